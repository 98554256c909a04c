// A certified OpenID Connect provider (oidc-provider), in which the tests say who the browser logs in as.
// node server.mjs PORT REDIRECT_URI POST_LOGOUT_REDIRECT_URI

import Provider from "oidc-provider";
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";

const [port, redirectUri, afterLogout] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
let person = null;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "marcel",
      client_secret: "a-secret-of-the-tests",
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [afterLogout],
      response_types: ["code"],
      grant_types: ["authorization_code"],
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
  cookies: { keys: ["a key of the tests"] },
  pkce: { required: () => true },
  claims: {
    openid: ["sub"],
    email: ["email", "email_verified"],
    profile: ["given_name", "family_name", "preferred_username", "groups"],
  },
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = form;
      },
    },
  },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...person, sub }) }),
  async loadExistingGrant(ctx) {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope("openid profile email");
    await grant.save();
    return grant;
  },
});

const serve = provider.callback();
createServer(async (request, response) => {
  if (request.url.startsWith("/test/person")) {
    let body = "";
    for await (const part of request) body += part;
    person = JSON.parse(body);
    response.end();
  } else if (request.url.startsWith("/interaction/")) {
    const result = person ? { login: { accountId: person.sub } } : { error: "access_denied" };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  } else {
    serve(request, response);
  }
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
