import { expect, test } from "vitest";
import { guardRequest } from "./guard-request";

const request = (headers: Record<string, string>) =>
  new Request("http://127.0.0.1:3000/api/v1/locks", { headers });
const refusal = (headers: Record<string, string>) => {
  try {
    guardRequest(request(headers));
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test("a loopback host is served, with or without a port", () => {
  for (const host of ["127.0.0.1:3000", "localhost:3000", "localhost", "[::1]:3000"])
    expect(refusal({ host })).toBeNull();
});

test("a host that only points at this machine is refused", () => {
  for (const host of [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:3000",
    "10.0.0.1:3000",
    "",
  ]) {
    expect(refusal({ host })).toBe("foreign-origin");
  }
});

test("a foreign origin is refused, our own is not", () => {
  const host = "127.0.0.1:3000";
  expect(refusal({ host, origin: "http://127.0.0.1:3000" })).toBeNull();
  for (const origin of ["http://evil.example", "null", "https://127.0.0.1:3000", "http://127.0.0.1:3001"]) {
    expect(refusal({ host, origin })).toBe("foreign-origin");
  }
});

test("a browser's word that another site asks is believed", () => {
  const host = "127.0.0.1:3000";
  expect(refusal({ host, "sec-fetch-site": "same-origin" })).toBeNull();
  expect(refusal({ host, "sec-fetch-site": "none" })).toBeNull();
  expect(refusal({ host, "sec-fetch-site": "cross-site" })).toBe("foreign-origin");
  expect(refusal({ host, "sec-fetch-site": "same-site" })).toBe("foreign-origin");
});
