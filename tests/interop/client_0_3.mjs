// Asks for an evaluation with @a2a-js/sdk 0.3: node client_0_3.mjs ADDRESS TRANSPORT REQUEST.
// Prints the last state and the artifact as JSON.
import { ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";

const [address, transport, request] = process.argv.slice(2);
const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  preferredTransports: [transport],
});
const client = await new ClientFactory(options).createFromUrl(address);
const parts = [{ kind: "text", text: request }];
const message = { kind: "message", messageId: "js-1", role: "user", parts };
const shown = {};
for await (const event of client.sendMessageStream({ message })) {
  if (event.kind === "artifact-update") {
    const [prose, row] = event.artifact.parts;
    shown.prose = prose.text;
    shown.row = row.data;
  } else if (event.kind === "status-update") {
    shown.state = event.status.state;
  }
}
console.log(JSON.stringify(shown));
