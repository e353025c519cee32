/** Forms that change something on a list and leave its reader where they are. */

import { replaceFrom } from "./replace";

const FORM = "form[data-post-live]";

export function initPostForms(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.matches(FORM)) return;
    event.preventDefault();
    void save(form);
  });
}

async function save(form: HTMLFormElement): Promise<void> {
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body: new FormData(form),
      headers: { Accept: "text/html" },
      credentials: "same-origin",
    });
    // Refused or signed out: the browser shows the answer whole.
    if (!answer.ok || new URL(answer.url).pathname !== location.pathname) return form.submit();
  } catch (error) {
    if (error instanceof TypeError) return form.submit();
    throw error;
  }
  form.closest("details")?.removeAttribute("open");
  await replaceFrom(location.href);
  const status = document.getElementById("announcer");
  if (status) status.textContent = "Saved.";
}
