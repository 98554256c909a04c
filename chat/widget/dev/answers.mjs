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
    edition: "Winter term 2025/26", page: 4, read_by_ocr: true,
    quote: "Of the contribution, 196.20 euros are for the semester ticket.",
    links: [],
  },
];

const CONTACT = {
  name: "Student Service Centre",
  url: "https://www.uni-lindental.example/ssc",
  email: "ssc@uni-lindental.example",
};

const TEXTS = {
  en: {
    crisis:
      "It sounds as if things are very hard for you right now. I am a program and cannot be there for you, but people can, at any hour.\n\n" +
      "If your life is in danger, call **112** now.",
    emergency: "- Call **112** now.\n- Say where you are and what happened.\n- Stay on the line until you are told to hang up.",
    assault:
      "What happened is not your fault, and you decide what happens next.\n\n" +
      "If you are in danger, call **110**. A doctor can look after you and keep evidence without the police being told.",
  },
  de: {
    crisis:
      "Das klingt, als ginge es Ihnen gerade sehr schlecht. Ich bin ein Programm und kann nicht für Sie da sein, Menschen aber können es, zu jeder Stunde.\n\n" +
      "Wenn Ihr Leben in Gefahr ist, rufen Sie jetzt **112** an.",
    emergency:
      "- Rufen Sie jetzt **112** an.\n- Sagen Sie, wo Sie sind und was passiert ist.\n- Legen Sie erst auf, wenn man es Ihnen sagt.",
    assault:
      "Was geschehen ist, ist nicht Ihre Schuld, und Sie entscheiden, wie es weitergeht.\n\n" +
      "Wenn Sie in Gefahr sind, rufen Sie **110** an. Ärztinnen und Ärzte können Sie versorgen und Spuren sichern, ohne dass die Polizei davon erfährt.",
  },
};

const HELPERS = {
  en: [
    { name: "Emergency number: ambulance and fire brigade", phone: "112", url: "", email: "" },
    { name: "TelefonSeelsorge (free, day and night, anonymous)", phone: "0800 111 0 111", url: "", email: "" },
    { name: "TelefonSeelsorge, another number", phone: "116 123", url: "https://www.telefonseelsorge.de/", email: "" },
  ],
  de: [
    { name: "Notruf: Rettungsdienst und Feuerwehr", phone: "112", url: "", email: "" },
    { name: "TelefonSeelsorge (kostenlos, Tag und Nacht, anonym)", phone: "0800 111 0 111", url: "", email: "" },
    { name: "TelefonSeelsorge, andere Nummer", phone: "116 123", url: "https://www.telefonseelsorge.de/", email: "" },
  ],
};

const COUNSELLING = {
  phone: "+49 (0)6421 28-22222",
  url: "https://www.uni-lindental.example/counselling",
  email: "psychologische.beratung@uni-lindental.example",
};

const OFFICES = {
  en: [
    { ...COUNSELLING, name: "Psychological counselling of the university" },
    { name: "Equal Opportunities Office", phone: "", url: "https://www.uni-lindental.example/equal", email: "" },
    { name: "Night service of the students' union", phone: "weekdays only", url: "", email: "" },
  ],
  de: [
    { ...COUNSELLING, name: "Psychologische Beratungsstelle der Universität" },
    { name: "Gleichstellungsbüro", phone: "", url: "https://www.uni-lindental.example/equal", email: "" },
    { name: "Nightline der Studierendenschaft", phone: "nur werktags", url: "", email: "" },
  ],
};

/** "HELP:crisis", "HELP:emergency", "HELP:assault", with ":de" behind it in German. */
function help(text) {
  const [, kind, language = "en"] = /help:(crisis|emergency|assault)(?::(de))?/.exec(text) ?? [];
  if (!kind) return null;
  const contacts = [...HELPERS[language], ...OFFICES[language]];
  return [
    { type: "help", text: TEXTS[language][kind], card: { kind, contacts } },
    { pause: 200 },
    { type: "message_end", status: "complete", strategy: "fixed", notice: "" },
  ];
}

const FEES =
  "The semester contribution is **318.40 euros** [1]. You pay it with your re-registration:\n\n" +
  "- until **15 July** for the winter semester\n- until 15 January for the summer semester\n\n" +
  "Of this, 196.20 euros are for the semester ticket [2]. Paying late costs 10 euros more [1, 2].";

const TABLE =
  "The parts of it [1]:\n\n| Part | Euros |\n| --- | --- |\n| Semester ticket | 196.20 |\n| Student union | 12.20 |\n\nTogether that is `318.40`.";

/** Three passages of two pages, the last of an old one. */
const THREE = [
  SOURCES[0],
  {
    ...SOURCES[0],
    n: 2,
    url: "https://www.uni-lindental.example/studies/fees#late",
    heading: "Late payment",
    quote: "Whoever pays late pays 10 euros more.",
    links: [],
  },
  { ...SOURCES[1], n: 3, checked_on: "2024-10-01" },
];

const LATE =
  "The semester contribution is **318.40 euros** [1]. Whoever pays late pays 10 euros more [2]. Of the contribution, 196.20 euros are for the semester ticket [3].";

const LIST =
  "You re-register in this order [1]:\n\n1. Pay the contribution.\n2. Upload your proof of insurance:\n   - as a PDF\n   - at most 5 MB\n3. Print your student ID.\n\nQuestions: +49 6421 28-22222 or studierende@uni-lindental.example.";

const WIDE_TABLE =
  "The dormitories [2]:\n\n| Dormitory | Type of room | Rent a month | Deposit | Waiting time |\n| --- | --- | --- | --- | --- |\n| Lahnblick | single room with its own bathroom | 312 euros | 600 euros | 2 semesters |\n| Am Schlossberg | shared flat for four | 268 euros | 500 euros | 1 semester |";

const PAGE = {
  n: 1,
  title: "Can I rent a locker in the library?",
  url: "https://chat.uni-lindental.example/answers/7/en/",
  heading: "",
  page: null,
  quote: "Yes, for a deposit of 20 euros.",
  links: [{ label: "Form for a locker", url: "https://www.uni-lindental.example/lockers" }],
};

const OFFICES_WORDS = {
  en: {
    n: 1,
    question: "Can I rent a locker in the library?",
    text: "Yes, for a deposit of **20 euros**:\n\n- one semester at a time\n- at the desk on the ground floor, <b>not</b> [2] online\n\nThe [**form**](https://www.uni-lindental.example/lockers) is there too, and no [script](javascript:alert(1)) or [path](/lockers).",
    language: "en",
    office: "the University Library",
    checked_on: "2026-03-03",
    signature: "Answer by the University Library, checked on 3 March 2026",
    note: "",
  },
  de: {
    n: 1,
    question: "Kann ich in der Bibliothek ein Schließfach mieten?",
    text: "Ja, für **20 Euro** Pfand, am Tresen im Erdgeschoss. Hier ist das [Formular](https://www.uni-lindental.example/lockers).",
    language: "de",
    office: "der Universitätsbibliothek",
    checked_on: "2026-03-03",
    signature: "Antwort von der Universitätsbibliothek, geprüft am 3. März 2026",
    note: "This answer was written in German.",
  },
};

/** "LOCKER", with "alone" if no page adds anything, with "german" in the other language. */
function office(said) {
  if (!said.includes("locker")) return null;
  const alone = said.includes("alone");
  const sources = alone ? [PAGE] : [PAGE, { ...SOURCES[1], n: 2 }];
  const end = { type: "message_end", status: "complete", strategy: alone ? "written" : "generated", notice: "" };
  return [
    { type: "citation", source: PAGE },
    { type: "office_answer", answer: OFFICES_WORDS[said.includes("german") ? "de" : "en"] },
    ...(said.includes("hold") ? [{ hold: true }] : []),
    ...(alone ? [] : [{ type: "citation", source: sources[1] }, { type: "message_delta", text: "Lockers are emptied in August [2]." }]),
    { type: "sources", sources },
    end,
  ];
}

/** Quotes of a page in German, and a sentence that is none. */
const CHILDCARE = `This page is in German:

“Ein Platz kostet **230 Euro** im Monat. Geöffnet ist:” [1]

- Montag bis Donnerstag
- Freitag bis 14 Uhr

**Öffnungszeiten** [1]

| Tag | Zeit |
| --- | --- |
| Montag | 8 Uhr |

A place is 230 euros a month [1].`;
const GERMAN_PAGE = {
  n: 1,
  title: "Kinderbetreuung",
  url: "https://www.uni-lindental.example/kita",
  heading: "",
  page: null,
  quote: "Ein Platz kostet 230 Euro im Monat. Geschwister zahlen die Hälfte.",
  language: "de",
};

/** The same of a page in English, for a chat in German. */
const KINDERBETREUUNG = `Diese Seite ist auf Englisch:

„A place is **230 euros** a month. It is open on:“ [1]

- Monday to Thursday
- Friday until 2 pm

**Opening hours** [1]

| Day | Time |
| --- | --- |
| Monday | 8 am |

Ein Platz kostet 230 Euro im Monat [1].`;
const ENGLISH_PAGE = {
  ...GERMAN_PAGE,
  title: "Childcare",
  quote: "A place is 230 euros a month. Siblings pay half of it.",
  language: "en",
};
const NEXT = { childcare: ["Where is the nursery?"], kinderbetreuung: ["Wo ist die Kita?"] };

const DATES = [
  { n: 1, label: "You pay it until 15 July.", begin: "2027-07-15", end: "", days: [] },
  { n: 1, label: "The desk is open.", begin: "2027-01-11T09:00", end: "2027-01-11T17:00", days: ["MO", "TU"] },
];

const LONG = Array.from(
  { length: 14 },
  (_, i) =>
    `Paragraph ${i + 1} of a long answer, which says what the one before has said in other words, so that there is something to scroll [1].`,
).join("\n\n");

/** The events of the answer to `text`, without numbers; {pause: ms} waits, {hold: true} goes on only when stopped. */
export function script(text, { asQuestion = false } = {}) {
  const said = text.toLowerCase();
  const helped = asQuestion ? null : help(said);
  if (helped) return helped;
  const byStaff = office(said);
  if (byStaff) return byStaff;
  const written = (answer, sources = SOURCES, pieces = /\S+\s*/g) => [
    { type: "working", stage: "reading", pages: 6 },
    ...(said.includes("slow") ? [{ pause: 1500 }, { type: "working", stage: "writing" }, { pause: 1500 }] : []),
    ...sources.map((source) => ({ type: "citation", source })),
    ...(answer.match(pieces) ?? []).map((piece) => ({ type: "message_delta", text: piece })),
    { type: "sources", sources },
    {
      type: "message_end",
      status: "complete",
      strategy: said.includes("quote") ? "extractive" : "generated",
      notice: "",
      ...(said.includes("dates") && { dates: DATES }),
      related: Object.entries(NEXT).flatMap(([word, related]) => (said.includes(word) ? related : [])),
    },
  ];
  if (said.includes("a person"))
    return [
      { type: "message_delta", text: "I am a program, but people help you." },
      { type: "message_end", status: "complete", strategy: "fixed", notice: "" },
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
  if (said.startsWith("wait")) return [{ hold: true }, ...written(FEES)];
  if (said.includes("hold")) return [...written(FEES).slice(0, 10), { hold: true }, ...written(FEES).slice(10)];
  if (said.includes("unknown")) return [{ type: "message_sparkle", message: 0 }, ...written(FEES)];
  if (said.includes("childcare")) return written(CHILDCARE, [GERMAN_PAGE]);
  if (said.includes("kinderbetreuung")) return written(KINDERBETREUUNG, [ENGLISH_PAGE]);
  if (said.includes("three")) return written(LATE, THREE);
  if (said.includes("long list")) return written(LIST, [SOURCES[0]]);
  if (said.includes("pdf")) return written("Of the contribution, 196.20 euros are for the semester ticket [1].", [{ ...SOURCES[1], n: 1 }]);
  if (said.includes("wide table")) return written(WIDE_TABLE);
  if (said.includes("table")) return written(TABLE);
  if (said.includes("long")) return written(LONG);
  return written(FEES);
}
