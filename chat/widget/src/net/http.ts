// Requests to the service's own origin: JSON both ways, no cookies, problems as RFC 9457 says.

import { expectShape, fits, isRecord } from "./shapes.ts";

/** The service refused; `detail` is its sentence for the visitor, empty where it said none. `status` 0: no reply. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Seconds, or null. */
  readonly retryAfter: number | null;

  constructor(status: number, code: string, detail: string, retryAfter: number | null = null) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

export interface Sending {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  token?: string;
  accept?: string;
  signal?: AbortSignal;
}

export class Http {
  readonly origin: string;
  #language: () => string;

  constructor(origin: string, language: () => string) {
    this.origin = origin;
    this.#language = language;
  }

  /** The reply, whatever it holds. Raises Problem for every other than a good one. */
  async send(
    path: string,
    { method = "GET", body, token, accept = "application/json", signal }: Sending = {},
  ): Promise<Response> {
    const headers: Record<string, string> = { Accept: accept, "Accept-Language": this.#language() };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (token) headers["Authorization"] = `Bearer ${token}`;
    let response: Response;
    try {
      response = await fetch(this.origin + path, {
        method,
        headers,
        credentials: "omit",
        cache: "no-store",
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem(0, "unreachable", "");
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  /** The reply as the named type of the protocol. Raises Problem. */
  async get<T>(shape: string, path: string, sending: Sending = {}): Promise<T> {
    const value = await json(await this.send(path, sending));
    try {
      return expectShape<T>(shape, value);
    } catch {
      throw new Problem(0, "malformed", "");
    }
  }
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const body = await json(response);
  const header = Number(response.headers.get("Retry-After")) || null;
  if (!fits(body, "$Problem") || !isRecord(body)) {
    return new Problem(
      response.status,
      "",
      isRecord(body) && typeof body["detail"] === "string" ? body["detail"] : "",
      header,
    );
  }
  const retryAfter = typeof body["retry_after"] === "number" ? body["retry_after"] : header;
  return new Problem(response.status, String(body["code"]), String(body["detail"]), retryAfter);
}
