/** What the server is still working on shows itself as it goes on: runs that wait to be processed,
 * runs that arrive, a reference profile. Asked for ever more rarely, and never by a hidden page. */

import { waitAfter } from "./backOff";
import { replaceFrom } from "./replace";

const PENDING_RUN = "[data-pending-run]";
const MOST_RUNS = 50;

/** A part of the page that is at work without a run: it is looked at as a whole. */
const PENDING_PART = "[data-live] [data-pending]";

/** The latest run that the page knows ("" for none): another one is news. */
const NEWEST = "[data-live] [data-newest]";

interface RunState {
  run_id: string;
  status: string;
  host_name: string;
}

let timer: ReturnType<typeof setTimeout> | undefined;
let quietLooks = 0;

export function initLive(): void {
  document.addEventListener("visibilitychange", lookSoon);
  lookSoon();
}

/** Begin to look, or begin again: something has changed that is worth a closer look. */
export function lookSoon(): void {
  quietLooks = 0;
  plan();
}

function plan(): void {
  clearTimeout(timer);
  if (document.hidden || !document.querySelector(`${PENDING_RUN}, ${PENDING_PART}, ${NEWEST}`)) {
    return;
  }
  const busy = document.querySelector(`${PENDING_RUN}, ${PENDING_PART}`) !== null;
  timer = setTimeout(() => void look(), waitAfter(quietLooks, busy));
}

async function look(): Promise<void> {
  try {
    const part = document.querySelector(PENDING_PART)?.closest<HTMLElement>("[data-source]");
    const news = (await runsAreDone()) || (await aRunHasArrived());
    // A page that answers a form has the form's address, which cannot be fetched again.
    if (news || document.querySelector(PENDING_PART)) {
      await replaceFrom(part?.dataset["source"] ?? location.href);
    }
    quietLooks = news ? 0 : quietLooks + 1;
  } catch (error) {
    // The server is away for a moment: look again later.
    if (!(error instanceof TypeError)) throw error;
    quietLooks += 1;
  }
  plan();
}

/** Whether a run that the page shows as pending is done, in a part that the server renders. */
async function runsAreDone(): Promise<boolean> {
  const marks = [...document.querySelectorAll<HTMLElement>(PENDING_RUN)].slice(0, MOST_RUNS);
  if (marks.length === 0) return false;
  const ids = new Set(marks.map((mark) => mark.dataset["pendingRun"] ?? ""));
  const query = new URLSearchParams([...ids].map((id) => ["run_id", id]));
  const done = (await states(query)).filter(({ status }) => status !== "accepted");
  if (done.length > 0) announce(done);
  return done.map((run) => mark(run, marks)).some((rendered) => rendered);
}

/** Put the status in place; whether a part of the page has to be rendered again for the rest. */
function mark({ run_id, status }: RunState, marks: readonly HTMLElement[]): boolean {
  const mine = marks.filter((one) => one.dataset["pendingRun"] === run_id);
  for (const badge of mine) {
    badge.textContent = status;
    badge.className = `badge ${status}`;
    delete badge.dataset["pendingRun"];
  }
  return mine.some((badge) => badge.closest("[data-live]") !== null);
}

async function aRunHasArrived(): Promise<boolean> {
  const list = document.querySelector<HTMLElement>(NEWEST);
  if (!list) return false;
  const [latest] = await states(new URLSearchParams({ page_size: "1" }));
  if (!latest || latest.run_id === list.dataset["newest"]) return false;
  list.dataset["newest"] = latest.run_id;
  return true;
}

async function states(query: URLSearchParams): Promise<RunState[]> {
  const answer = await fetch(`${document.body.dataset["runs"] ?? ""}?${query}`, { credentials: "same-origin" });
  if (!answer.ok) return [];
  return ((await answer.json()) as { results: RunState[] }).results;
}

function announce(done: readonly RunState[]): void {
  const status = document.getElementById("announcer");
  const words = done.map((run) => `The run of ${run.host_name} is ${run.status}.`);
  if (status) status.textContent = words.join(" ");
}
