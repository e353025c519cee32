import { describe, expect, it } from "vitest";

import { formQuery } from "./query";

const fields: [string, string][] = [
  ["tool", "ssh"],
  ["group_by", "os"],
  ["method", "steady"],
  ["cipher", "aes128-ctr"],
  ["cipher", "3des-cbc"],
  ["sort", "cipher:aes128-ctr"],
  ["since", ""],
];

describe("the compare form as a URL", () => {
  it("keeps every chosen value and leaves empty ones out", () => {
    expect(formQuery(fields, "group_by").toString()).toBe(
      "tool=ssh&group_by=os&method=steady&cipher=aes128-ctr&cipher=3des-cbc&sort=cipher%3Aaes128-ctr",
    );
  });

  it("drops what belongs to the other tool when the tool changes", () => {
    expect(formQuery(fields, "tool").toString()).toBe("tool=ssh&group_by=os");
  });
});
