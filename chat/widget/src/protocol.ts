// Made by schema.mjs from protocol.schema.json: change that, not this.

/** A reference that stands in a cited document itself. */
export type Link = {
  label: string;
  url: string;
};

/** A cited passage; n counts from 1 in order of first use, url is a deep link. */
export type Source = {
  n: number;
  title: string;
  url: string;
  heading: string;
  page: number | null;
  quote: string;
  links?: Array<Link>;
};

/** Who helps where the assistant cannot. */
export type Contact = {
  name: string;
  url: string;
  email: string;
};

/** Who helps somebody in need. Each but the name may be empty; phone is one number. */
export type HelpContact = {
  name: string;
  phone: string;
  url: string;
  email: string;
};

/** Beside the text of what to do: which need was read in the message, and who helps, the most urgent first. */
export type HelpCard = {
  kind: "crisis" | "emergency" | "assault";
  contacts: Array<HelpContact>;
};

/** Why an answer did not help. */
export type Reason = "wrong" | "outdated" | "incomplete" | "not_my_question" | "other";

/** A saved question or answer. */
export type Message = {
  id: number;
  role: "user" | "assistant";
  client_id?: string | null;
  text: string;
  status: string;
  created_at: string;
  strategy?: string;
  notice?: string;
  reason?: string;
  sources?: Array<Source>;
  choices?: Array<string>;
  related?: Array<string>;
  contact?: Contact | null;
  help?: HelpCard | null;
  feedback?: number;
  feedback_reasons?: Array<string>;
};

export type ConversationSummary = {
  id: string;
  title: string;
  created_at: string;
  updated_at: string;
  messages: number;
};

/** A text in each language. */
export type Texts = {
  en: string;
  de: string;
};

/** GET /api/v1/assistant: all that a page may know before anybody agreed. */
export type AssistantInfo = {
  site: string;
  assistant: {
    name: string;
    institution: string;
    languages: Array<string>;
  };
  welcome: Texts;
  suggestions: {
    en: Array<string>;
    de: Array<string>;
  };
  theme: {
    accent: string;
    position: "right" | "left";
    logo: string;
    greeting: Texts;
  };
  contact: Contact | null;
  limits: {
    question_characters: number;
  };
  retention_days: number;
  writes: boolean;
  privacy_url: string;
};

/** POST /api/v1/session; expires_in in seconds. */
export type SessionReply = {
  token: string;
  expires_in: number;
};

/** application/problem+json (RFC 9457); detail is a sentence for the student, retry_after in seconds. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  retry_after?: number | null;
};

/** A question; the same client_id again is the same question. */
export type Ask = {
  type: "ask";
  client_id: string;
  conversation: string;
  text: string;
  as_question?: boolean;
};

/** Asks for the events after number `after`, or for the saved conversation (null). The first frame carries the token. */
export type Resume = {
  type: "resume";
  token?: string;
  conversation: string;
  after: number | null;
};

export type Stop = {
  type: "stop";
  message: number;
};

export type GiveFeedback = {
  type: "feedback";
  message: number;
  value: -1 | 0 | 1;
  reasons?: Array<Reason>;
  comment?: string;
};

export type GiveRating = {
  type: "rating";
  conversation: string;
  stars: 1 | 2 | 3 | 4 | 5;
};

export type SetLanguage = {
  type: "language";
  language: "en" | "de";
};

export type ClientFrame = Ask | Resume | Stop | GiveFeedback | GiveRating | SetLanguage;

/** Codes of closing of this protocol. 4401: no frame carried a token that holds for 30 s. 4403: the assistant may not stand on this page. 4408: the client read too slowly. */
export type CloseCode = 4401 | 4403 | 4408;

export type MessageStart = {
  type: "message_start";
  seq?: number | null;
  conversation: string;
  question: {
    id: number;
    client_id: string | null;
    text: string;
    created_at: string;
  };
  message: {
    id: number;
    created_at: string;
  };
};

export type MessageDelta = {
  type: "message_delta";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
};

/** A source cited for the first time, just before the delta that holds its [n]. */
export type Citation = {
  type: "citation";
  seq?: number | null;
  conversation: string;
  message: number;
  source: Source;
};

export type Sources = {
  type: "sources";
  seq?: number | null;
  conversation: string;
  message: number;
  sources: Array<Source>;
};

/** There is no answer, and why; related are curated questions close to it. */
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

/** The message is a cry for help: what to do, and who helps. text is Markdown, as answers are. */
export type Help = {
  type: "help";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
  card: HelpCard;
};

/** The student is asked back; a choice is answered by an ask with its label as text. */
export type Clarify = {
  type: "clarify";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
  choices: Array<string>;
};

/** The model is busy; position counts who is served before, this one included. */
export type Queued = {
  type: "queued";
  seq?: number | null;
  conversation: string;
  message: number;
  position: number;
};

export type MessageReplace = {
  type: "message_replace";
  seq?: number | null;
  conversation: string;
  message: number;
  text: string;
};

/** The last event of every answer. */
export type MessageEnd = {
  type: "message_end";
  seq?: number | null;
  conversation: string;
  message: number;
  status: "complete" | "abstained" | "clarifying" | "stopped" | "failed";
  strategy?: string;
  notice?: string;
  finished_at?: string | null;
};

/** With seq: part of an answer. Without: the reply to a frame, naming what it was about. */
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

export type FeedbackEvent = {
  type: "feedback";
  seq?: number | null;
  conversation: string;
  message: number;
  value: number;
  reasons?: Array<string>;
};

export type RatingEvent = {
  type: "rating";
  seq?: number | null;
  conversation: string;
  stars: number;
};

export type ConversationDeleted = {
  type: "conversation_deleted";
  seq?: number | null;
  conversation: string;
};

/** All that was stored of the visitor is gone, and the session with it: they are asked to agree anew. */
export type Erased = {
  type: "erased";
  seq?: null;
};

/** Silence of 45 s means that the line is dead. */
export type Ping = {
  type: "ping";
};

/** The saved conversation, in reply to resume and GET /api/v1/conversations/{id}. */
export type Snapshot = {
  type: "conversation";
  seq?: null;
  conversation: string;
  messages: Array<Message>;
  last_seq: number | null;
  title?: string;
  stars?: number | null;
};

export type ServerEvent = MessageStart | MessageDelta | Citation | Sources | Abstain | Help | Clarify | Queued | MessageReplace | MessageEnd | ErrorEvent | FeedbackEvent | RatingEvent | ConversationDeleted | Erased | Ping | Snapshot;

/** What the server says, in the notation of net/shapes.ts. */
export const SHAPES = {
  "Link": {
    "label": "s",
    "url": "s"
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
    ]
  },
  "Contact": {
    "name": "s",
    "url": "s",
    "email": "s"
  },
  "HelpContact": {
    "name": "s",
    "phone": "s",
    "url": "s",
    "email": "s"
  },
  "HelpCard": {
    "kind": "=crisis|=emergency|=assault",
    "contacts": [
      "$HelpContact"
    ]
  },
  "Message": {
    "id": "i",
    "role": "=user|=assistant",
    "client_id?": "s|0",
    "text": "s",
    "status": "s",
    "created_at": "s",
    "strategy?": "s",
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
    "feedback?": "i",
    "feedback_reasons?": [
      "s"
    ]
  },
  "ConversationSummary": {
    "id": "s",
    "title": "s",
    "created_at": "s",
    "updated_at": "s",
    "messages": "i"
  },
  "Texts": {
    "en": "s",
    "de": "s"
  },
  "AssistantInfo": {
    "site": "s",
    "assistant": {
      "name": "s",
      "institution": "s",
      "languages": [
        "s"
      ]
    },
    "welcome": "$Texts",
    "suggestions": {
      "en": [
        "s"
      ],
      "de": [
        "s"
      ]
    },
    "theme": {
      "accent": "s",
      "position": "=right|=left",
      "logo": "s",
      "greeting": "$Texts"
    },
    "contact": "$Contact|0",
    "limits": {
      "question_characters": "i"
    },
    "retention_days": "i",
    "writes": "b",
    "privacy_url": "s"
  },
  "SessionReply": {
    "token": "s",
    "expires_in": "n"
  },
  "Problem": {
    "type": "s",
    "title": "s",
    "status": "i",
    "detail": "s",
    "code": "s",
    "retry_after?": "i|0"
  },
  "MessageStart": {
    "type": "=message_start",
    "seq?": "i|0",
    "conversation": "s",
    "question": {
      "id": "i",
      "client_id": "s|0",
      "text": "s",
      "created_at": "s"
    },
    "message": {
      "id": "i",
      "created_at": "s"
    }
  },
  "MessageDelta": {
    "type": "=message_delta",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "text": "s"
  },
  "Citation": {
    "type": "=citation",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "source": "$Source"
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
  "Help": {
    "type": "=help",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "text": "s",
    "card": "$HelpCard"
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
  "Queued": {
    "type": "=queued",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "position": "i"
  },
  "MessageReplace": {
    "type": "=message_replace",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "text": "s"
  },
  "MessageEnd": {
    "type": "=message_end",
    "seq?": "i|0",
    "conversation": "s",
    "message": "i",
    "status": "=complete|=abstained|=clarifying|=stopped|=failed",
    "strategy?": "s",
    "notice?": "s",
    "finished_at?": "s|0"
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
      "s"
    ]
  },
  "RatingEvent": {
    "type": "=rating",
    "seq?": "i|0",
    "conversation": "s",
    "stars": "i"
  },
  "ConversationDeleted": {
    "type": "=conversation_deleted",
    "seq?": "i|0",
    "conversation": "s"
  },
  "Erased": {
    "type": "=erased",
    "seq?": "0"
  },
  "Ping": {
    "type": "=ping"
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
    "stars?": "i|0"
  },
  "ServerEvent": "$MessageStart|$MessageDelta|$Citation|$Sources|$Abstain|$Help|$Clarify|$Queued|$MessageReplace|$MessageEnd|$ErrorEvent|$FeedbackEvent|$RatingEvent|$ConversationDeleted|$Erased|$Ping|$Snapshot"
} as const;
