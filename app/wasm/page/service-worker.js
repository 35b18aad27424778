// Keeps the page's files, so that it works without a network. The build writes version and files into it; files of
// another version go when this one takes over.

const VERSION = "@VERSION@";
const FILES = ["@FILES@"];
const scope = registration.scope;
const own = `hnefi ${scope} `;

addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(own + VERSION);
    const one = async (file) => {
      const answer = await fetch(new Request(file, { cache: "reload" }));
      if (!answer.ok) throw new TypeError(`${file}: ${answer.status}`);
      // Some hosts leave out ".html", and no browser takes an answer that was redirected for a page.
      await cache.put(file, answer.redirected ? new Response(answer.body, answer) : answer);
    };
    await Promise.all(FILES.map(one));
  };
  event.waitUntil(keep());
});

addEventListener("activate", (event) => {
  const replace = async () => {
    const names = await caches.keys();
    await Promise.all(
      names.filter((name) => name.startsWith(own) && name !== own + VERSION).map((name) => caches.delete(name)),
    );
    await clients.claim();
  };
  event.waitUntil(replace());
});

addEventListener("message", ({ data }) => {
  if (data === "take over") skipWaiting();
});

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(scope)) return;
  const answer = async () => {
    const cache = await caches.open(own + VERSION);
    const address = request.url.replace(/\/index\.html(?=[?#]|$)/, "/");
    return (await cache.match(address, { ignoreSearch: true })) ?? fetch(request);
  };
  event.respondWith(answer());
});
