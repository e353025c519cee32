/** The compare form as a URL: the URL is the state. */

/** Parameters that a change of the key makes meaningless (ciphers and sorts belong to a tool). */
const DEPENDENT: Readonly<Record<string, readonly string[]>> = {
  tool: ["cipher", "block_size", "method", "operation", "sort"],
};

/** The query of a form's fields: empty values left out, and what depends on a changed field. */
export function formQuery(
  fields: Iterable<readonly [string, string]>,
  changed: string | null,
): URLSearchParams {
  const dropped = new Set(DEPENDENT[changed ?? ""] ?? []);
  const query = new URLSearchParams();
  for (const [name, value] of fields) {
    if (value !== "" && !dropped.has(name)) query.append(name, value);
  }
  return query;
}
