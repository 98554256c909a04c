// An answer's Markdown as HTML of a few plain elements. Whatever else the text holds stays text: no markup is passed
// on, no address becomes a link, no image is loaded. Only `[n]` is marked, as <sup>, for the view to make a control of,
// and in words of an office what they link to, as <a>.

import { getDefaults, Lexer, Parser, Renderer, Tokenizer, type Tokens } from "marked";

/** The only elements there are, and the only attribute. The view makes no other. */
export const ELEMENTS = [
  ...["p", "br", "strong", "em", "del", "code", "pre", "sup", "ul", "ol", "li", "blockquote"],
  ...["table", "thead", "tbody", "tr", "th", "td"],
];
export const ATTRIBUTES = ["start"];
/** What the words of an office have beside these. */
export const LINKED = { elements: ["a"], attributes: ["href"] };

const CITATION = /^\[(\d{1,3}(?:,\s?\d{1,3}){0,20})\](?!\()/;
const BULLET = /^(\s{0,6})\u2022\s+/gm;

/** Reads less than Markdown has: what is not known stays text. */
class PlainTokenizer extends Tokenizer {
  override html = none;
  override tag = none;
  override autolink = none;
  override url = none;
  override def = none;
  override reflink = none;
  // Quoted pages are indented and underlined in ways that mean nothing.
  override code = none;
  override lheading = none;

  /** "~10 to ~20 euros" is not crossed out. */
  override del(source: string, ...rest: [string, string?]): Tokens.Del | undefined {
    return source.startsWith("~~") ? super.del(source, ...rest) : undefined;
  }
}

class PlainRenderer extends Renderer {
  override html = ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text);
  override hr = () => "";
  override image = ({ text }: Tokens.Image) => escaped(text);
  override checkbox = ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ ");
  override code = ({ text }: Tokens.Code) => `<pre><code>${escaped(text)}</code></pre>`;
  override codespan = ({ text }: Tokens.Codespan) => `<code>${escaped(text)}</code>`;

  override heading({ tokens }: Tokens.Heading): string {
    return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>`;
  }

  #linked: boolean;

  constructor(linked: boolean) {
    super();
    this.#linked = linked;
  }

  override link({ href, tokens }: Tokens.Link): string {
    const words = this.parser.parseInline(tokens);
    return this.#linked ? `<a href="${escaped(href)}">${words}</a>` : words;
  }

  override tablecell({ tokens, header }: Tokens.TableCell): string {
    const tag = header ? "th" : "td";
    return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
  }
}

const OPTIONS = {
  ...getDefaults(),
  gfm: true,
  breaks: true,
  extensions: {
    inline: [readCitation],
    startInline: [(source: string) => source.match(/\[\d/)?.index],
    renderers: { citation: (token: Tokens.Generic) => `<sup>${escaped(String(token["numbers"]))}</sup>` },
    childTokens: {},
  },
};

/** The text as one string of HTML a block: paragraph, list, table. Links stay only where the text is `linked`. */
export function blocks(text: string, linked = false): string[] {
  // Both keep what they read last, so each text has its own.
  const options = { ...OPTIONS, tokenizer: new PlainTokenizer(), renderer: new PlainRenderer(linked) };
  const tokens = new Lexer(options).lex(text.replace(/\0/g, "\ufffd").replace(BULLET, "$1- "));
  return tokens.map((token) => Parser.parse([token], options).trim()).filter((html) => html !== "");
}

function none(): undefined {
  return undefined;
}

function readCitation(source: string): Tokens.Generic | undefined {
  const match = CITATION.exec(source);
  return match ? { type: "citation", raw: match[0], numbers: match[1] } : undefined;
}

function escaped(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&#39;");
}
