// Opening games: pasted texts, game files, and the games of runs.

import { lookAt } from "./analysis.js";
import { ask, button, dialog, guard, make, problemWords } from "./ask.js";
import { complain as say, enter, page } from "./state.js";
import { review } from "./review.js";
import { resultOf } from "./saying.js";
import { t } from "./texts.js";
import { withoutFolders } from "./transport.js";

const $ = (id) => document.getElementById(id);

/** The largest file that is opened from this device, in bytes. */
const LARGEST = 64 << 20;

/** A game is reviewed at once, a position analysed; what there is to say of the text is still said then. */
async function look({ problem }) {
  await (page.state.can.review ? review() : lookAt());
  if (problem) say((page.notice ??= problemWords(problem)));
}

/** A dialog with a field for a FEN, moves, or a whole game. */
export function pasteGame() {
  const field = make("textarea", {
    rows: 8,
    spellcheck: "false",
    "aria-label": t("paste.field"),
    placeholder: t("paste.place"),
  });
  let complain = () => {};
  const read = async () => {
    try {
      const state = await enter("/api/games/open", {
        text: { text: field.value, rules: page.state?.rules.name ?? page.setup.first.rules },
      });
      $("paste-dialog").close();
      look(state);
    } catch (error) {
      complain(error.message);
    }
  };
  const about = make("p", { class: "note" }, t("paste.about"));
  complain = dialog($("paste-dialog"), t("paste.title"), make("div", {}, field, about), [
    button(t("paste.read"), read, { class: "main", id: "paste-read" }),
  ]);
  field.focus();
}

/** A dialog with the runs and folders that the server was given. */
export function openGame() {
  const { setup } = page;
  const body = make("div", { class: "library" });
  const tell = dialog($("open-dialog"), t("open.title"), body);

  const guarded = guard(tell);
  const item = (label, note, work) =>
    make("li", {}, button([make("span", {}, label), note ? make("small", {}, note) : null], guarded(work)));
  const list = (title, items, up) => {
    const focused = body.contains(document.activeElement);
    body.replaceChildren(
      make("div", { class: "library-head" }, up ? button(t("open.back"), guarded(up)) : null, make("h3", {}, title)),
      items.length > 0 ? make("ul", {}, items) : make("p", { class: "note" }, t("open.nothing")),
    );
    if (focused) (body.querySelector("li button") ?? body.querySelector("button"))?.focus();
  };
  const enterGame = (request) => async () => {
    const state = await enter("/api/games/open", request);
    $("open-dialog").close();
    look(state);
  };

  function top() {
    const runs = setup.runs.map((name, run) => item(name, t("open.run"), () => generations(name, run)));
    const folders = setup.folders.map((name, folder) => item(name, t("open.folder"), () => entries(folder, name, [])));
    if (withoutFolders === null) {
      body.replaceChildren(make("p", {}, t("open.about")), chooser());
    } else if (runs.length + folders.length === 0) {
      body.replaceChildren(
        make("p", {}, t("open.noFolders")),
        make("pre", {}, withoutFolders),
        make("p", {}, t("open.whatFor")),
      );
    } else list(t("open.places"), [...runs, ...folders]);
  }

  /** A field for a file of this device. */
  function chooser() {
    const field = make("input", {
      type: "file",
      id: "open-file",
      accept: ".pgn,.jsonl,.json,.txt",
      "aria-label": t("open.file"),
    });
    field.addEventListener(
      "change",
      guarded(async () => {
        const [file] = field.files;
        if (!file) return;
        if (file.size > LARGEST)
          throw new Error(t("open.tooLarge", { name: file.name, size: file.size, most: LARGEST }));
        await enterGame({ text: { text: await file.text(), rules: setup.first.rules } })();
      }),
    );
    return field;
  }

  async function generations(name, run) {
    const { generations: found } = await ask(`/api/runs/${run}`);
    list(
      name,
      [...found]
        .reverse()
        .map((generation) =>
          item(t("open.generation", { n: generation }), null, () => runGames(name, run, generation, 0)),
        ),
      top,
    );
  }

  async function runGames(name, run, generation, first) {
    const { list: games } = await ask(`/api/runs/${run}/games?generation=${generation}&first=${first}`);
    show(
      t("open.runGames", { name, n: generation }),
      games,
      (index) => ({ run: { run, generation, index } }),
      () => (first > 0 ? runGames(name, run, generation, 0) : generations(name, run)),
      games.next === null ? null : () => runGames(name, run, generation, games.next),
    );
  }

  async function entries(folder, name, path, first = 0) {
    const asked = `folder=${folder}&path=${encodeURIComponent(path.join("/"))}&first=${first}`;
    const { entries: found, next } = await ask(`/api/files?${asked}`);
    const items = found.map((entry) =>
      item(
        entry.name,
        entry.is_file ? null : t("open.folder"),
        entry.is_file
          ? () => fileGames(folder, name, [...path, entry.name], 0)
          : () => entries(folder, name, [...path, entry.name]),
      ),
    );
    if (next !== null) items.push(item(t("open.more"), null, () => entries(folder, name, path, next)));
    const above = path.length > 0 ? () => entries(folder, name, path.slice(0, -1)) : top;
    list([name, ...path].join("/"), items, first > 0 ? () => entries(folder, name, path) : above);
  }

  async function fileGames(folder, name, path, first) {
    const file = path.join("/");
    const games = await ask(`/api/files/games?folder=${folder}&path=${encodeURIComponent(file)}&first=${first}`);
    show(
      [name, ...path].join("/"),
      games,
      (index) => ({ file: { folder, path: file, index } }),
      () => (first > 0 ? fileGames(folder, name, path, 0) : entries(folder, name, path.slice(0, -1))),
      games.next === null ? null : () => fileGames(folder, name, path, games.next),
    );
  }

  function show(title, games, request, up, more = null) {
    const items = games.games.map((game) => {
      if (game.error)
        return make(
          "li",
          { class: "bad" },
          make("span", {}, `${game.index + 1}. `),
          make("small", {}, problemWords(game.error)),
        );
      const players = game.players.every((name) => ["?", "human", "person"].includes(name))
        ? ""
        : ` · ${game.players.join(" – ")}`;
      return item(
        t("open.game", { n: game.number }),
        `${resultOf(game.ending)}, ${t("open.length", { n: game.plies })}${players}`,
        enterGame(request(game.index)),
      );
    });
    if (more) items.push(item(t("open.more"), null, more));
    list(title, items, up);
  }

  top();
}
