// Inviting somebody to a game between two people: a link to the room at the server, to send or to scan.

import { ask, dialog, make } from "./ask.js";
import { page } from "./state.js";
import { svg } from "./ink.js";
import { copying, sharing } from "./share.js";
import { t } from "./texts.js";
import { isServed } from "./transport.js";

const $ = (id) => document.getElementById(id);

/** Shows the button where somebody else can come. */
export function offerInvitation({ seats, source }) {
  $("invite").hidden = !isServed || Boolean(source) || !seats.every(({ person }) => person);
}

/** The link and its QR code. */
export async function invite() {
  const body = make("div", { class: "invitation" });
  const tell = dialog($("ask-dialog"), t("invite.title"), body);
  try {
    const here = encodeURIComponent(location.href.split(/[?#]/)[0]);
    const { link, reachable, side, code } = await ask(`/api/games/${page.state.id}/invitation?page=${here}`);
    const drawing = svg(
      "svg",
      { viewBox: `0 0 ${side} ${side}`, class: "code", role: "img", "aria-label": t("invite.code") },
      svg("path", { d: code }),
    );
    body.replaceChildren(
      make("p", {}, t(reachable ? "invite.about" : "invite.alone")),
      reachable ? drawing : make("pre", {}, `hnefi play --web --listen 0.0.0.0:${location.port || 80}`),
      make("p", { class: "fen" }, make("code", { id: "invite-link" }, link)),
      make(
        "div",
        { class: "buttons" },
        copying("invite-copy", "invite.copy", () => link, tell),
        sharing("invite-share", "daily.share", () => link),
      ),
    );
  } catch (error) {
    tell(error.message);
  }
}

$("invite").addEventListener("click", invite);
