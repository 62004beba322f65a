// Runs page: a file is sent in parts, with its progress; where that can't be, the plain form sends it whole.
import { csrfToken, get, post } from "./lib/api.js";

const form = document.querySelector("[data-uploads]");
const bar = document.querySelector("[data-progress]");
const told = document.querySelector("[data-told]");
const ATTEMPTS = 5;

const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function tell(words, wrong = false) {
  told.hidden = false;
  told.classList.toggle("notice-error", wrong);
  told.textContent = words;
}

async function putBytes(address, content) {
  const checksum = hex(await crypto.subtle.digest("SHA-256", content));
  const headers = { "Content-Type": "application/octet-stream", "X-CSRFToken": csrfToken(), "X-Checksum-SHA256": checksum };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await fetch(address, { method: "PUT", credentials: "same-origin", headers, body: content });
      if (response.ok) return;
      const { error } = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
      if (attempt === ATTEMPTS || response.status === 404) throw new Error(error);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    await pause(1000 * attempt);
  }
}

// An upload that broke off goes on: its id is kept while the tab is open.
async function begin(file, key, asked) {
  const known = sessionStorage.getItem(key);
  if (known) {
    const answer = await get(`${form.dataset.upload}${known}`);
    if (answer.ok && !answer.data.refused && !answer.data.notes.length) return answer.data;
  }
  const answer = await post(form.dataset.uploads, asked);
  if (!answer.ok) throw new Error(answer.data.error);
  sessionStorage.setItem(key, answer.data.id);
  return answer.data;
}

async function send(file) {
  const fields = new FormData(form);
  const asked = { system: fields.get("name"), file_name: file.name, scores_decide: fields.has("scores_decide") };
  for (const name of ["family", "pool", "form"]) asked[name] = fields.get(name) ?? "";
  const topics = fields.get("topics");
  const key = `upload:${form.dataset.uploads}:${asked.system}:${file.name}:${file.size}:${file.lastModified}:${topics?.name}:${topics?.size}`;
  const upload = await begin(file, key, asked);
  const address = `${form.dataset.upload}${upload.id}`;
  if (topics?.size) await putBytes(`${address}/topics`, await topics.arrayBuffer());
  const there = new Set(upload.parts.map((part) => part.number));
  const parts = Math.max(1, Math.ceil(file.size / upload.part_bytes));
  for (let number = 1; number <= parts; number += 1) {
    const content = await file.slice((number - 1) * upload.part_bytes, number * upload.part_bytes).arrayBuffer();
    if (!there.has(number)) await putBytes(`${address}/parts/${number}`, content);
    bar.value = number / parts;
    tell(`Sent ${number} of ${parts} parts.`);
  }
  const job = await post(`${address}/finish`, { parts });
  if (!job.ok) throw new Error(job.data.error);
  await imported(job.data, address, key);
  window.location.assign(`${window.location.pathname}/${asked.system}`);
}

class Refused extends Error {} // the same file would be refused again

async function imported(started, address, key) {
  let job = started;
  while (job.state === "queued" || job.state === "running") {
    bar.value = job.percent / 100;
    tell(job.state === "queued" ? "Sent. Waiting for a worker." : `Importing: ${job.stage}`);
    await pause(1000);
    const answer = await get(`${form.dataset.jobs}/${job.id}`).catch(() => null); // a break: ask again
    if (answer?.ok) job = answer.data;
  }
  if (job.state === "done") return sessionStorage.removeItem(key);
  const upload = await get(address).catch(() => null); // the job says nothing of the file, since others may watch it
  if (upload?.ok && upload.data.refused) {
    sessionStorage.removeItem(key);
    throw new Refused(upload.data.refused);
  }
  throw new Error(job.error || `The import was ${job.state}.`);
}

if (form && window.crypto?.subtle) {
  form.addEventListener("submit", async (event) => {
    const file = form.querySelector("[name=file]").files[0];
    if (!file || file.size <= Number(form.dataset.whole)) return; // small: sent whole, with its notes at once
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    bar.hidden = false;
    bar.value = 0;
    try {
      await send(file);
    } catch (error) {
      tell(error instanceof Refused ? error.message : `${error.message} Send again to go on where it stopped.`, true);
      button.disabled = false;
    }
  });
}
