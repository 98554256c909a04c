// What the stand-in service says: a word in the question chooses the answer.

const SOURCES = [
  {
    n: 1,
    title: "Semester contribution",
    url: "https://www.uni-lindental.example/studies/fees#amount",
    heading: "Amount and deadline",
    page: null,
    quote: "The semester contribution is 318.40 euros. It is due with the re-registration.",
    links: [{ label: "Re-register online", url: "https://portal.uni-lindental.example/" }],
  },
  {
    n: 2,
    title: "Fee regulations 2026 (PDF)",
    url: "https://www.uni-lindental.example/files/fees.pdf#page=4",
    heading: "§ 3 Contributions",
    page: 4,
    quote: "Of the contribution, 196.20 euros are for the semester ticket.",
    links: [],
  },
];

const CONTACT = {
  name: "Student Service Centre",
  url: "https://www.uni-lindental.example/ssc",
  email: "ssc@uni-lindental.example",
};

const FEES =
  "The semester contribution is **318.40 euros** [1]. You pay it with your re-registration:\n\n" +
  "- until **15 July** for the winter semester\n- until 15 January for the summer semester\n\n" +
  "Of this, 196.20 euros are for the semester ticket [2]. Paying late costs 10 euros more [1, 2].";

const TABLE =
  "The parts of it [1]:\n\n| Part | Euros |\n| --- | --- |\n| Semester ticket | 196.20 |\n| Student union | 12.20 |\n\nTogether that is `318.40`.";

const LONG = Array.from(
  { length: 14 },
  (_, i) =>
    `Paragraph ${i + 1} of a long answer, which says what the one before has said in other words, so that there is something to scroll [1].`,
).join("\n\n");

/** The events of the answer to `text`, without numbers; {pause: ms} waits, {hold: true} goes on only when stopped. */
export function script(text) {
  const said = text.toLowerCase();
  const written = (answer, sources = SOURCES, pieces = /\S+\s*/g) => [
    ...sources.map((source) => ({ type: "citation", source })),
    ...(answer.match(pieces) ?? []).map((piece) => ({ type: "message_delta", text: piece })),
    { type: "sources", sources },
    {
      type: "message_end",
      status: "complete",
      strategy: said.includes("quote") ? "extractive" : "generated",
      notice: "",
    },
  ];
  if (said.startsWith("say ")) return written(text.slice(4), [], /[^]{1,150}/g);
  if (said.includes("world cup") || said.includes("abstain")) {
    const related = ["How do I get a sports course?", "When is the sports hall open?"];
    const sorry = "I found nothing about this on the university's pages.";
    return [
      { type: "abstain", reason: "no_evidence", text: sorry, contact: CONTACT, related },
      { type: "message_end", status: "abstained", strategy: "", notice: "" },
    ];
  }
  if (said.includes("which programme") || said.includes("clarify")) {
    return [
      { type: "clarify", text: "For which degree do you want to know this?", choices: ["Bachelor", "Master"] },
      { type: "message_end", status: "clarifying", strategy: "fixed", notice: "" },
    ];
  }
  if (said.includes("queue"))
    return [
      { type: "queued", position: 3 },
      { pause: 1500 },
      { type: "queued", position: 1 },
      { pause: 1000 },
      ...written(FEES),
    ];
  if (said.includes("fail")) {
    return [
      { type: "message_delta", text: "The semester contribution is " },
      {
        type: "error",
        code: "internal",
        detail: "Something went wrong on our side. Your question is saved; please try again.",
        retry_after: null,
      },
      { type: "message_end", status: "failed", strategy: "", notice: "" },
    ];
  }
  if (said.includes("hold")) return [...written(FEES).slice(0, 9), { hold: true }, ...written(FEES).slice(9)];
  if (said.includes("unknown")) return [{ type: "message_sparkle", message: 0 }, ...written(FEES)];
  if (said.includes("table")) return written(TABLE);
  if (said.includes("long")) return written(LONG);
  return written(FEES);
}
