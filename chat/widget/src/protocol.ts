// Made by `manage.py widget_protocol` from chat/protocol: change that, not this.

export type About = {
  name: string;
  institution: string;
  languages: Array<string>;
};

/** There is no answer, and why; `text` says so to the student, `related` are curated questions close to it. */
export type Abstain = {
  type: "abstain";
  seq?: number | null;
  conversation: string;
  message: number;
  reason: string;
  text: string;
  contact: Contact | null;
  related?: Array<string>;
};

/** A date to come that an answer names, for a calendar; `label` is its sentence, `n` the source's number. `begin` and `end` are days ("2026-07-15") or times in the assistant's time zone ("2026-07-15T12:00"); `end` may be empty. Opening hours return each week on `days` ("MO"). */
export type Appointment = {
  n: number;
  label: string;
  begin: string;
  end?: string;
  days?: Array<string>;
};

/** A question; the same `client_id` again is the same question. */
export type Ask = {
  token?: string | null;
  type: "ask";
  text: string;
  conversation: string;
  client_id: string;
  as_question?: boolean;
  replaces?: number | null;
};

/** GET /api/v1/assistant: everything that a page may know before the visitor agreed. */
export type AssistantInfo = {
  site: string;
  assistant: About;
  welcome: Texts;
  suggestions: Suggestions;
  theme: Theme;
  contact: Contact | null;
  offices: boolean;
  mails: boolean;
  limits: Limits;
  retention_days: number;
  writes: boolean;
  privacy_url: string;
};

/** A question that the visitor left with an office is new, or something was said or done about it. */
export type CaseChanged = {
  type: "case";
  seq?: number | null;
  conversation: string;
  case: CaseView;
};

/** A question that the visitor left with an office. It is open until the office has replied. While it is "watching" no office has it: its student waits to be told of an answer, and then it is "told". `about` is the answer below which it stands. `reply_due` is until when the office means to reply, empty without one. `mails` says if replies go to an e-mail address, `helped` what the student said in the end. */
export type CaseView = {
  id: number;
  office: string;
  state: "open" | "replied" | "closed" | "watching" | "told";
  question: string;
  about: number | null;
  opened_at: string;
  reply_due: string;
  mails: "" | "unconfirmed" | "confirmed";
  helped: boolean | null;
  messages: Array<CaseWords>;
};

/** The visitor took a question back that they had left with an office. */
export type CaseWithdrawn = {
  type: "case_withdrawn";
  seq?: number | null;
  conversation: string;
  case: number;
};

/** A message of a case; `text` is Markdown but the student's, and `asks_back` says that it waits for an answer. */
export type CaseWords = {
  id: number;
  by: "student" | "office" | "assistant";
  text: string;
  asks_back: boolean;
  created_at: string;
};

/** A source cited for the first time, just before the delta that holds its `[n]`. */
export type Citation = {
  type: "citation";
  seq?: number | null;
  conversation: string;
  message: number;
  source: Source;
};

/** The student is asked back; a choice's label, sent as the next question, is understood as that choice. */
export type Clarify = {
  type: "clarify";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
  choices: Array<string>;
};

export type ClientFrame = Ask | Resume | Stop | GiveFeedback | GiveRating | UseContact | SetLanguage;

/** Closing codes of this protocol. 4401: no frame carried a valid token for 30 s. 4403: the assistant is not allowed on this page. 4408: the client read too slowly. */
export type CloseCode = 4401 | 4403 | 4408;

/** The contact that helps if the assistant cannot. */
export type Contact = {
  name: string;
  url: string;
  email: string;
};

/** An address, a number, or the contact's page. */
export type ContactKind = "email" | "phone" | "page";

/** The visitor deleted the conversation, in this tab or another. */
export type ConversationDeleted = {
  type: "conversation_deleted";
  conversation: string;
  seq?: number | null;
};

/** A conversation in the list of the visitor's own. */
export type ConversationSummary = {
  id: string;
  title: string;
  created_at: string;
  updated_at: string;
  messages: number;
};

/** All data of the visitor was deleted, and the session with it: the page asks for consent again. */
export type Erased = {
  type: "erased";
  seq?: null;
};

/** Something failed; `detail` is a sentence for the student in their language. With a `seq` it is a part of an answer; without one it replies to a frame, and names what the frame was about. */
export type ErrorEvent = {
  type: "error";
  seq?: number | null;
  conversation?: string;
  message?: number;
  client_id?: string;
  code: string;
  detail: string;
  retry_after?: number | null;
};

/** The visitor rated an answer, in this tab or another. */
export type FeedbackEvent = {
  type: "feedback";
  seq?: number | null;
  conversation: string;
  message: number;
  value: -1 | 0 | 1;
  reasons?: Array<Reason>;
};

export type FieldError = {
  field: string;
  message: string;
};

/** Rate an answer; 0 withdraws the rating. */
export type GiveFeedback = {
  token?: string | null;
  type: "feedback";
  value: -1 | 0 | 1;
  message: number;
  reasons?: Array<Reason>;
  comment?: string;
};

/** Rate the conversation. */
export type GiveRating = {
  token?: string | null;
  type: "rating";
  conversation: string;
  stars: 1 | 2 | 3 | 4 | 5;
};

/** GET /api/v1/conversations/{id}/handover: what a student chooses from before leaving a question with an office. */
export type Handover = {
  offices: Array<OfficeChoice>;
  office: number | null;
  question: string;
  messages: Array<Shareable>;
  shared: Array<number>;
  mails: boolean;
};

/** The message is a cry for help; `text` says what to do now. */
export type Help = {
  type: "help";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
  card: HelpCard;
};

/** Contacts for one kind of need, the most urgent first. */
export type HelpCard = {
  kind: "crisis" | "emergency" | "assault";
  contacts: Array<HelpContact>;
};

/** A contact for a person in need. Each field but the name may be empty; `phone` is one number. */
export type HelpContact = {
  name: string;
  phone: string;
  url: string;
  email: string;
};

/** An answer's text in plain language, with the same `[n]`; `kept` of its statements stand as they were. */
export type InPlainLanguage = {
  text: string;
  changed: number;
  kept: number;
};

export type Limits = {
  question_characters: number;
};

/** A reference in a cited document. */
export type Link = {
  label: string;
  url: string;
};

/** A saved question or answer; `sources` stand for the `[n]` in its text. `help` is set if the question was a cry for help; the text then says what to do. `office` is an answer of staff's own that comes before the text. `machine_made` marks an answer that a machine wrote or put together. */
export type Message = {
  id: number;
  role: "user" | "assistant";
  client_id?: string | null;
  text: string;
  status: "generating" | "complete" | "abstained" | "clarifying" | "stopped" | "failed";
  created_at: string;
  strategy?: "" | "generated" | "extractive" | "fixed" | "written";
  machine_made?: boolean;
  notice?: string;
  reason?: string;
  sources?: Array<Source>;
  choices?: Array<string>;
  related?: Array<string>;
  contact?: Contact | null;
  help?: HelpCard | null;
  office?: OfficeWords | null;
  dates?: Array<Appointment>;
  feedback?: -1 | 0 | 1;
  feedback_reasons?: Array<Reason>;
};

/** More of the answer's text. */
export type MessageDelta = {
  type: "message_delta";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
};

/** The last event of every answer; `machine_made` says that a machine wrote the text or put it together. `related` are curated questions that lead on from an answer, `dates` what can be put into a calendar. */
export type MessageEnd = {
  type: "message_end";
  seq?: number | null;
  machine_made?: boolean;
  conversation: string;
  message: number;
  status: "complete" | "abstained" | "clarifying" | "stopped" | "failed";
  strategy?: "" | "generated" | "extractive" | "fixed" | "written";
  notice?: string;
  related?: Array<string>;
  dates?: Array<Appointment>;
  finished_at?: string | null;
};

/** The first event of every answer; the question `replaces` is gone from the conversation, with its answer. */
export type MessageStart = {
  type: "message_start";
  seq?: number | null;
  conversation: string;
  question: StartedQuestion;
  message: StartedMessage;
  replaces?: number | null;
};

/** Staff have answered this question in their own words; what the deltas bring stands below it. */
export type OfficeAnswer = {
  type: "office_answer";
  seq?: number | null;
  conversation: string;
  message: number;
  answer: OfficeWords;
};

/** An office that takes questions: its hours, a line for each day, and by when it replies to what it gets now. */
export type OfficeChoice = {
  id: number;
  name: string;
  hours: Array<string>;
  is_open: boolean;
  reply_due: string;
};

/** An answer that staff of an office wrote to `question`, word for word, as Markdown; its page is source `n`. `signature` says who answers and when that was checked (`checked_on`, a day), in the answer's `language`; `note` is set if that is not the student's, and says so in theirs. */
export type OfficeWords = {
  n: number;
  question: string;
  text: string;
  language: string;
  office: string;
  checked_on: string;
  signature: string;
  note?: string;
};

/** Nothing happened. Silence of 45 s means that the connection is lost. */
export type Ping = {
  type: "ping";
};

/** application/problem+json (RFC 9457); `detail` is a sentence for the visitor, `retry_after` in seconds. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  retry_after?: number | null;
  errors?: Array<FieldError>;
};

/** The model is busy with others; `position` is how many are served before, this one included. */
export type Queued = {
  type: "queued";
  seq?: number | null;
  conversation: string;
  message: number;
  position: number;
};

/** The visitor rated the conversation, in this tab or another. */
export type RatingEvent = {
  type: "rating";
  seq?: number | null;
  conversation: string;
  stars: 1 | 2 | 3 | 4 | 5;
};

/** Why an answer did not help. */
export type Reason = "wrong" | "outdated" | "incomplete" | "not_my_question" | "other";

/** Ask for the events after number `after`, or for the saved conversation (null). */
export type Resume = {
  token?: string | null;
  type: "resume";
  conversation: string;
  after?: number | null;
};

export type ServerEvent = MessageStart | MessageDelta | Citation | Sources | OfficeAnswer | Abstain | Help | Clarify | Queued | Working | MessageEnd | ErrorEvent | FeedbackEvent | RatingEvent | CaseChanged | CaseWithdrawn | ConversationDeleted | Erased | Ping | Snapshot;

/** POST /api/v1/session. */
export type SessionReply = {
  token: string;
  expires_in: number;
};

/** Choose the language of what the server says. */
export type SetLanguage = {
  token?: string | null;
  type: "language";
  language: "en" | "de";
};

/** A message that can be sent along with a question. */
export type Shareable = {
  id: number;
  role: "user" | "assistant";
  text: string;
};

/** The saved conversation, in reply to `resume` and to GET /api/v1/conversations/{id}; later events continue it. */
export type Snapshot = {
  type: "conversation";
  seq?: null;
  conversation: string;
  messages: Array<Message>;
  last_seq: number | null;
  title?: string;
  stars?: number | null;
  cases?: Array<CaseView>;
};

/** A cited passage as the student sees it; `n` counts from 1 in order of first use, `url` is a deep link. `links` are the document's own references, if the student asked for a link. `language` is the quote's ("de"), and `checked_on` the day on which the page was read last; both are empty where they are not known. `edition` is the term, year or examination regulations that the page is about, if it has other editions ("Winter term 2025/26"). `read_by_ocr` says that a program read the passage, or a part of it, off a picture, and may have misread letters. */
export type Source = {
  n: number;
  title: string;
  url: string;
  heading: string;
  page: number | null;
  quote: string;
  links?: Array<Link>;
  language?: string;
  checked_on?: string;
  edition?: string;
  read_by_ocr?: boolean;
};

/** All sources that were cited, once the text is complete. */
export type Sources = {
  type: "sources";
  seq?: number | null;
  conversation: string;
  message: number;
  sources: Array<Source>;
};

/** The answer that is being written. */
export type StartedMessage = {
  id: number;
  created_at: string;
};

/** The saved question. */
export type StartedQuestion = {
  id: number;
  client_id: string | null;
  text: string;
  created_at: string;
};

/** Stop an answer that is being written. */
export type Stop = {
  token?: string | null;
  type: "stop";
  message: number;
};

export type Suggestions = {
  en: Array<string>;
  de: Array<string>;
};

/** A text in each language. */
export type Texts = {
  en: string;
  de: string;
};

export type Theme = {
  accent: string;
  position: "right" | "left";
  logo: string;
  greeting: Texts;
};

/** Tell that the visitor went to a contact that an answer names: of which kind, not whose. */
export type UseContact = {
  token?: string | null;
  type: "contact";
  message: number;
  kind: ContactKind;
};

/** Tells what happens before there is text: `pages` pages are read, or the answer is being written and checked. */
export type Working = {
  type: "working";
  seq?: number | null;
  conversation: string;
  message: number;
  stage: "reading" | "writing";
  pages?: number;
};

/** What the server says, in the notation of net/shapes.ts. */
export const SHAPES = {
  "About": {
    "name": "s",
    "institution": "s",
    "languages": [
      "s"
    ]
  },
  "Abstain": {
    "type": "=abstain",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "reason": "s",
    "text": "s",
    "contact": "$Contact|0",
    "related?": [
      "s"
    ]
  },
  "Appointment": {
    "n": "i",
    "label": "s",
    "begin": "s",
    "end?": "s",
    "days?": [
      "s"
    ]
  },
  "AssistantInfo": {
    "site": "s",
    "assistant": "$About",
    "welcome": "$Texts",
    "suggestions": "$Suggestions",
    "theme": "$Theme",
    "contact": "$Contact|0",
    "offices": "b",
    "mails": "b",
    "limits": "$Limits",
    "retention_days": "i",
    "writes": "b",
    "privacy_url": "s"
  },
  "CaseChanged": {
    "type": "=case",
    "seq?": "i|0",
    "conversation": "s",
    "case": "$CaseView"
  },
  "CaseView": {
    "id": "i",
    "office": "s",
    "state": "=open|=replied|=closed|=watching|=told",
    "question": "s",
    "about": "i|0",
    "opened_at": "s",
    "reply_due": "s",
    "mails": "=|=unconfirmed|=confirmed",
    "helped": "b|0",
    "messages": [
      "$CaseWords"
    ]
  },
  "CaseWithdrawn": {
    "type": "=case_withdrawn",
    "seq?": "i|0",
    "conversation": "s",
    "case": "i"
  },
  "CaseWords": {
    "id": "i",
    "by": "=student|=office|=assistant",
    "text": "s",
    "asks_back": "b",
    "created_at": "s"
  },
  "Citation": {
    "type": "=citation",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "source": "$Source"
  },
  "Clarify": {
    "type": "=clarify",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "text": "s",
    "choices": [
      "s"
    ]
  },
  "Contact": {
    "name": "s",
    "url": "s",
    "email": "s"
  },
  "ConversationDeleted": {
    "type": "=conversation_deleted",
    "conversation": "s",
    "seq?": "i|0"
  },
  "ConversationSummary": {
    "id": "s",
    "title": "s",
    "created_at": "s",
    "updated_at": "s",
    "messages": "i"
  },
  "Erased": {
    "type": "=erased",
    "seq?": "0"
  },
  "ErrorEvent": {
    "type": "=error",
    "seq?": "i|0",
    "conversation?": "s",
    "message?": "i",
    "client_id?": "s",
    "code": "s",
    "detail": "s",
    "retry_after?": "i|0"
  },
  "FeedbackEvent": {
    "type": "=feedback",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "value": "i",
    "reasons?": [
      "$Reason"
    ]
  },
  "FieldError": {
    "field": "s",
    "message": "s"
  },
  "Handover": {
    "offices": [
      "$OfficeChoice"
    ],
    "office": "i|0",
    "question": "s",
    "messages": [
      "$Shareable"
    ],
    "shared": [
      "i"
    ],
    "mails": "b"
  },
  "Help": {
    "type": "=help",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "text": "s",
    "card": "$HelpCard"
  },
  "HelpCard": {
    "kind": "=crisis|=emergency|=assault",
    "contacts": [
      "$HelpContact"
    ]
  },
  "HelpContact": {
    "name": "s",
    "phone": "s",
    "url": "s",
    "email": "s"
  },
  "InPlainLanguage": {
    "text": "s",
    "changed": "i",
    "kept": "i"
  },
  "Limits": {
    "question_characters": "i"
  },
  "Link": {
    "label": "s",
    "url": "s"
  },
  "Message": {
    "id": "i",
    "role": "=user|=assistant",
    "client_id?": "s|0",
    "text": "s",
    "status": "=generating|=complete|=abstained|=clarifying|=stopped|=failed",
    "created_at": "s",
    "strategy?": "=|=generated|=extractive|=fixed|=written",
    "machine_made?": "b",
    "notice?": "s",
    "reason?": "s",
    "sources?": [
      "$Source"
    ],
    "choices?": [
      "s"
    ],
    "related?": [
      "s"
    ],
    "contact?": "$Contact|0",
    "help?": "$HelpCard|0",
    "office?": "$OfficeWords|0",
    "dates?": [
      "$Appointment"
    ],
    "feedback?": "i",
    "feedback_reasons?": [
      "$Reason"
    ]
  },
  "MessageDelta": {
    "type": "=message_delta",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "text": "s"
  },
  "MessageEnd": {
    "type": "=message_end",
    "seq?": "i|0",
    "machine_made?": "b",
    "conversation": "s",
    "message": "i",
    "status": "=complete|=abstained|=clarifying|=stopped|=failed",
    "strategy?": "=|=generated|=extractive|=fixed|=written",
    "notice?": "s",
    "related?": [
      "s"
    ],
    "dates?": [
      "$Appointment"
    ],
    "finished_at?": "s|0"
  },
  "MessageStart": {
    "type": "=message_start",
    "seq?": "i|0",
    "conversation": "s",
    "question": "$StartedQuestion",
    "message": "$StartedMessage",
    "replaces?": "i|0"
  },
  "OfficeAnswer": {
    "type": "=office_answer",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "answer": "$OfficeWords"
  },
  "OfficeChoice": {
    "id": "i",
    "name": "s",
    "hours": [
      "s"
    ],
    "is_open": "b",
    "reply_due": "s"
  },
  "OfficeWords": {
    "n": "i",
    "question": "s",
    "text": "s",
    "language": "s",
    "office": "s",
    "checked_on": "s",
    "signature": "s",
    "note?": "s"
  },
  "Ping": {
    "type": "=ping"
  },
  "Problem": {
    "type": "s",
    "title": "s",
    "status": "i",
    "detail": "s",
    "code": "s",
    "retry_after?": "i|0",
    "errors?": [
      "$FieldError"
    ]
  },
  "Queued": {
    "type": "=queued",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "position": "i"
  },
  "RatingEvent": {
    "type": "=rating",
    "seq?": "i|0",
    "conversation": "s",
    "stars": "i"
  },
  "Reason": "=wrong|=outdated|=incomplete|=not_my_question|=other",
  "ServerEvent": "$MessageStart|$MessageDelta|$Citation|$Sources|$OfficeAnswer|$Abstain|$Help|$Clarify|$Queued|$Working|$MessageEnd|$ErrorEvent|$FeedbackEvent|$RatingEvent|$CaseChanged|$CaseWithdrawn|$ConversationDeleted|$Erased|$Ping|$Snapshot",
  "SessionReply": {
    "token": "s",
    "expires_in": "i"
  },
  "Shareable": {
    "id": "i",
    "role": "=user|=assistant",
    "text": "s"
  },
  "Snapshot": {
    "type": "=conversation",
    "seq?": "0",
    "conversation": "s",
    "messages": [
      "$Message"
    ],
    "last_seq": "i|0",
    "title?": "s",
    "stars?": "i|0",
    "cases?": [
      "$CaseView"
    ]
  },
  "Source": {
    "n": "i",
    "title": "s",
    "url": "s",
    "heading": "s",
    "page": "i|0",
    "quote": "s",
    "links?": [
      "$Link"
    ],
    "language?": "s",
    "checked_on?": "s",
    "edition?": "s",
    "read_by_ocr?": "b"
  },
  "Sources": {
    "type": "=sources",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "sources": [
      "$Source"
    ]
  },
  "StartedMessage": {
    "id": "i",
    "created_at": "s"
  },
  "StartedQuestion": {
    "id": "i",
    "client_id": "s|0",
    "text": "s",
    "created_at": "s"
  },
  "Suggestions": {
    "en": [
      "s"
    ],
    "de": [
      "s"
    ]
  },
  "Texts": {
    "en": "s",
    "de": "s"
  },
  "Theme": {
    "accent": "s",
    "position": "=right|=left",
    "logo": "s",
    "greeting": "$Texts"
  },
  "Working": {
    "type": "=working",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "stage": "=reading|=writing",
    "pages?": "i"
  }
} as const;
