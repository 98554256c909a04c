// A stand-in for the service, and a page of another origin with a strict policy of its own that embeds the widget:
//   node dev/server.mjs [SERVICE_PORT PAGE_PORT]
// Pages: /?mode=launcher|inline|frame|small&lang=de&theme=dark&transport=sse&accent=%23ffcc00

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { Service } from "./state.mjs";
import { accept } from "./websocket.mjs";

const [servicePort = 8190, pagePort = 8191] = process.argv.slice(2).map(Number);
const SERVICE = `http://127.0.0.1:${servicePort}`;
const WIDGET = new URL("../../static/chat/widget/v1.js", import.meta.url);
const service = new Service();
const sockets = new Set();
let websockets = true;
let refusing = false;
let holding = false;
let failing = false;

const INFO = {
  site: "demo",
  assistant: { name: "Lindi", institution: "University of Lindental", languages: ["en", "de"] },
  welcome: { en: "", de: "" },
  suggestions: {
    en: [
      "How much is the semester contribution?",
      "How many books can I borrow at once?",
      "When does the lecture period begin?",
    ],
    de: ["Wie hoch ist der Semesterbeitrag?", "Wie viele Bücher kann ich gleichzeitig ausleihen?"],
  },
  theme: { accent: "#1d4f7c", position: "right", logo: "", greeting: { en: "", de: "" } },
  contact: {
    name: "Student Service Centre",
    url: "https://www.uni-lindental.example/ssc",
    email: "ssc@uni-lindental.example",
  },
  offices: true,
  mails: true,
  limits: { question_characters: 2000 },
  retention_days: 90,
  writes: true,
  privacy_url: "https://www.uni-lindental.example/privacy",
};

function problem(reply, status, code, detail) {
  reply.writeHead(status, { "Content-Type": "application/problem+json" });
  reply.end(JSON.stringify({ type: "about:blank", title: code, status, detail, code }));
}

function json(reply, value, status = 200) {
  reply.writeHead(status, { "Content-Type": "application/json" });
  reply.end(status === 204 ? undefined : JSON.stringify(value));
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text ? JSON.parse(text) : {};
}

function stream(request, reply) {
  reply.writeHead(200, { "Content-Type": "text/event-stream" });
  reply.write(": begun\n\n");
  sockets.add(request.socket);
  return (event) => reply.write(`id: ${event.seq ?? ""}\ndata: ${JSON.stringify(event)}\n\n`);
}

async function api(request, reply, url) {
  const [, , , kind, id, verb] = url.pathname.split("/");
  if (kind === "assistant")
    return json(reply, { ...INFO, theme: { ...INFO.theme, accent: process.env.ACCENT ?? INFO.theme.accent } });
  const body = await bodyOf(request);
  if (kind === "session") {
    if (refusing) return problem(reply, 403, "forbidden_origin", "This page is not allowed to use the assistant.");
    return json(reply, { token: service.knows(body.token) ? body.token : service.newVisitor(), expires_in: 3600 });
  }
  const visitor = (request.headers.authorization ?? "").replace("Bearer ", "");
  if (!service.knows(visitor)) return problem(reply, 401, "session_required", "Your session has ended.");
  if (kind === "my-data") {
    if (request.method === "DELETE") return (service.erase(visitor), json(reply, null, 204));
    return json(
      reply,
      service.list(visitor).map((row) => service.snapshot(visitor, row.id)),
    );
  }
  if (kind === "messages") {
    if (verb === "plain")
      return json(reply, { text: "You pay **318.40 euros** [1].\n\nPaying late costs 10 euros more [1, 2].", changed: 1, kept: 1 });
    if (verb === "calendar") return reply.writeHead(200, { "Content-Type": "text/calendar" }).end("BEGIN:VCALENDAR");
    if (verb === "stop") service.stop(visitor, Number(id));
    else if (verb === "contacts") service.useContact(visitor, Number(id), body.kind);
    else service.feedback(visitor, Number(id), body);
    return json(reply, {});
  }
  const language = (request.headers["accept-language"] ?? "en").slice(0, 2);
  if (failing && (kind === "cases" || /cases|handover|wishes/.test(verb ?? ""))) return request.socket.destroy();
  if (kind === "cases") {
    const [row, found] = service.findCase(visitor, Number(id));
    if (!found) return problem(reply, 404, "not_found", "This is not there any more.");
    if (request.method === "DELETE") return (service.withdraw(row, found), json(reply, null, 204));
    if (verb === "helped") found.helped = body.helped;
    else if (verb === "email") found.mails = body.email ? "unconfirmed" : "";
    else service.offices.say(found, "student", body.text, { client: body.client_id });
    service.tellCase(row, found);
    return json(reply, found);
  }
  if (!id) return json(reply, service.list(visitor));
  if (verb === "ask") {
    const tell = stream(request, reply);
    const end = service.listen(visitor, (event) => {
      if (event.conversation !== id) return;
      tell(event);
      if (event.type === "message_end") (end(), reply.end());
    });
    service.ask(visitor, { ...body, conversation: id });
    return undefined;
  }
  if (!service.own(visitor, id)) return problem(reply, 404, "not_found", "This is not there any more.");
  if (verb === "events") {
    const tell = stream(request, reply);
    for (const event of service.since(visitor, id, Number(url.searchParams.get("after")))) tell(event);
    const end = service.listen(visitor, (event) => event.conversation === id && tell(event));
    request.on("close", end);
    return undefined;
  }
  if (verb === "file") return reply.writeHead(200, { "Content-Type": "text/html" }).end("<!DOCTYPE html><h1>Saved</h1>");
  if (verb === "handover")
    return json(
      reply,
      service.offices.handover(service.own(visitor, id), Number(url.searchParams.get("answer")), language),
    );
  if (verb === "cases") return json(reply, service.openCase(service.own(visitor, id), body, language));
  if (verb === "wishes") {
    const row = service.own(visitor, id);
    const wish = service.offices.wish(row, body);
    service.tellCase(row, wish);
    return json(reply, wish);
  }
  if (verb === "rating") return (service.rate(visitor, id, body.stars), json(reply, {}));
  if (request.method === "PATCH") return (service.rename(visitor, id, body.title), json(reply, {}));
  if (request.method === "DELETE") return (service.remove(visitor, id), json(reply, null, 204));
  return json(reply, service.snapshot(visitor, id));
}

/** What tests do to the service. */
function dev(url) {
  if (url.pathname === "/dev/drop") for (const socket of sockets) socket.destroy();
  if (url.pathname === "/dev/websockets") websockets = url.searchParams.get("on") === "1";
  if (url.pathname === "/dev/holding") holding = url.searchParams.get("on") === "1";
  if (url.pathname === "/dev/refusing") refusing = url.searchParams.get("on") === "1";
  if (url.pathname === "/dev/failing") failing = url.searchParams.get("on") === "1";
  if (url.pathname === "/dev/offices") {
    service.offices.count = Number(url.searchParams.get("count") ?? 2);
    service.offices.mails = url.searchParams.get("mails") === "1";
  }
  if (url.pathname === "/dev/told") {
    const [row, found] = service.findCase(null, null);
    service.offices.tell(found);
    service.tellCase(row, found);
  }
  if (url.pathname === "/dev/reply") {
    const [row, found] = service.findCase(null, null);
    const said = (name) => url.searchParams.get(name) === "1";
    service.offices.say(found, "office", url.searchParams.get("text"), { asks: said("asks"), closes: said("closes") });
    service.tellCase(row, found);
  }
  if (url.pathname === "/dev/fill")
    service.fill(
      url.searchParams.get("visitor"),
      url.searchParams.get("conversation"),
      Number(url.searchParams.get("count")),
    );
}

function framePage(url) {
  const lang = url.searchParams.get("lang");
  const theme = url.searchParams.get("theme");
  return `<!DOCTYPE html><html lang="en"><title>Chat</title><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/frame.css"><body><div id="chat"></div>
<script async src="/widget/v1.js" data-site="demo" data-lang="${lang}" data-theme="${theme}" data-mode="inline" data-target="#chat"></script>`;
}

const main = createServer(async (request, reply) => {
  const url = new URL(request.url, SERVICE);
  reply.setHeader("Access-Control-Allow-Origin", "*");
  reply.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type");
  reply.setHeader("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
  if (request.method === "OPTIONS") return json(reply, null, 204);
  if (url.pathname === "/widget/v1.js")
    return reply.writeHead(200, { "Content-Type": "text/javascript" }).end(readFileSync(WIDGET));
  if (url.pathname === "/frame.css")
    return reply.writeHead(200, { "Content-Type": "text/css" }).end("html,body,#chat{height:100%;margin:0}");
  if (url.pathname === "/widget/frame")
    return reply.writeHead(200, { "Content-Type": "text/html" }).end(framePage(url));
  if (url.pathname.startsWith("/dev/")) return (dev(url), json(reply, {}));
  if (url.pathname.startsWith("/api/v1/")) return api(request, reply, url);
  return problem(reply, 404, "not_found", "Nothing is here.");
});

main.on("upgrade", async (request, socket) => {
  if (!websockets) return socket.destroy();
  while (holding) await new Promise((resolve) => setTimeout(resolve, 50));
  sockets.add(socket);
  let visitor = null;
  const send = accept(request, socket, (frame) => {
    if (frame.token) {
      if (!service.knows(frame.token))
        return send({ type: "error", seq: null, code: "session_expired", detail: "Your session has ended." });
      visitor = frame.token;
      socket.on("close", service.listen(visitor, send));
    }
    if (frame.type === "ask" && !/\w/.test(frame.text)) {
      const { client_id, conversation } = frame;
      return send({ type: "error", seq: null, code: "no_words", detail: "No words.", client_id, conversation });
    }
    if (frame.type === "ask" && !service.ask(visitor, frame))
      for (const event of service.since(visitor, frame.conversation, 0)) send(event);
    if (frame.type === "stop") service.stop(visitor, frame.message);
    if (frame.type === "feedback") service.feedback(visitor, frame.message, frame);
    if (frame.type === "contact") service.useContact(visitor, frame.message, frame.kind);
    if (frame.type === "rating") service.rate(visitor, frame.conversation, frame.stars);
    if (frame.type !== "resume") return undefined;
    if (frame.after === null) {
      const snapshot = service.snapshot(visitor, frame.conversation);
      send(snapshot);
      for (const event of service.since(visitor, frame.conversation, snapshot.last_seq)) send(event);
    } else for (const event of service.since(visitor, frame.conversation, frame.after)) send(event);
    return undefined;
  });
});

/** The university's page: its own styles are rude, its policy is strict. */
function page(url) {
  const mode = url.searchParams.get("mode") ?? "launcher";
  const query = ["lang", "theme", "transport"]
    .map((name) => [name, url.searchParams.get(name)])
    .filter(([, value]) => value);
  const more = query.map(([name, value]) => ` data-${name}="${value.replace(/[^\w-]/g, "")}"`).join("");
  const how = { launcher: "", inline: ' data-mode="inline" data-target="#here"', frame: " data-frame" }[mode] ?? "";
  return `<!DOCTYPE html><html lang="${url.searchParams.get("page") ?? "en"}"><head><meta charset="utf-8"><title>University</title>
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<link rel="stylesheet" href="/page.css"></head><body class="${mode}"><h1>University of Lindental</h1><p>Welcome. <a href="#x">A link</a></p><main id="here"></main>
<script async src="${SERVICE}/widget/v1.js" data-site="demo"${more}${how}></script></body></html>`;
}

const RUDE = `html{font-size:62.5%} *{box-sizing:content-box} button{background:red!important;text-transform:uppercase} p{color:green;margin:3em} svg{display:none} body{margin:0;line-height:3}
body.inline{display:flex;flex-direction:column;height:100vh;height:100dvh} body.inline h1,body.inline p{position:absolute;clip-path:inset(50%)} body.inline #here{flex:1;min-height:0;height:100%}`;
const POLICY = `default-src 'none'; script-src ${SERVICE}; style-src 'self'; connect-src ${SERVICE} ${SERVICE.replace("http", "ws")}; img-src ${SERVICE}; frame-src ${SERVICE}; base-uri 'none'`;

createServer((request, reply) => {
  const url = new URL(request.url, "http://page");
  if (url.pathname === "/page.css") return reply.writeHead(200, { "Content-Type": "text/css" }).end(RUDE);
  const strict =
    url.searchParams.get("mode") === "small"
      ? `${POLICY}; require-trusted-types-for 'script'; trusted-types 'none'`
      : POLICY;
  return reply
    .writeHead(url.pathname === "/" ? 200 : 404, { "Content-Type": "text/html", "Content-Security-Policy": strict })
    .end(url.pathname === "/" ? page(url) : "");
}).listen(pagePort, "127.0.0.1");
main.listen(servicePort, "127.0.0.1", () => console.log(`service ${SERVICE}, page http://127.0.0.1:${pagePort}/`));
