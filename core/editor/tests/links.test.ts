import assert from "node:assert/strict";
import test from "node:test";
import { checkAddress } from "../src/links.ts";

test("an address is one of the web or of e-mail", () => {
  assert.equal(checkAddress(" https://uni.example/a?b#c "), "https://uni.example/a?b#c");
  assert.equal(checkAddress("www.uni.example/a"), "https://www.uni.example/a");
  assert.equal(checkAddress("mailto:info@uni.example"), "mailto:info@uni.example");
  for (const wrong of ["", "hours", "/path", "https://", "javascript:alert(1)", "data:text/html,a", "https://a b.example", "ftp://a.example"])
    assert.equal(checkAddress(wrong), "", wrong);
});
