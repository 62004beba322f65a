// Calls API v1. An answer of the server comes back with its status; no answer of this server is an Unreachable.

export class Unreachable extends Error {}

export function csrfToken() {
  // the cookie first: it changes when the person signs in again in another tab
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  if (cookie) return decodeURIComponent(cookie.slice("csrftoken=".length));
  return document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

async function call(url, options) {
  let response;
  try {
    response = await fetch(url, { credentials: "same-origin", signal: AbortSignal.timeout(20000), ...options });
  } catch (error) {
    throw new Unreachable(String(error));
  }
  const data = await response.json().catch(() => null);
  // a page of a hotel's network, say: it answers "200 OK" for a server that never saw the label
  if (response.ok && (data === null || response.redirected)) throw new Unreachable("not an answer of the server");
  const wait = Number(response.headers.get("Retry-After"));
  return { status: response.status, ok: response.ok, data: data ?? {}, retryAfter: wait > 0 ? wait * 1000 : 0 };
}

export function get(url) {
  return call(url, { headers: { Accept: "application/json" } });
}

export function post(url, body) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken(), Accept: "application/json" };
  return call(url, { method: "POST", headers, body: JSON.stringify(body) });
}

// For a page that is being left: nobody hears the answer.
export function postOnLeaving(url, body) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken(), Accept: "application/json" };
  fetch(url, { method: "POST", credentials: "same-origin", keepalive: true, headers, body: JSON.stringify(body) }).catch(() => {});
}

// For a page that is being left, and a page that takes forms: a form, since a beacon cannot carry the CSRF header.
export function sendOnLeaving(url, fields) {
  const form = new URLSearchParams({ csrfmiddlewaretoken: csrfToken() });
  for (const [name, values] of Object.entries(fields)) for (const value of values) form.append(name, value);
  return navigator.sendBeacon(url, form);
}

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // plain http in a local network has no randomUUID
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
