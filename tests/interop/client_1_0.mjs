// Asks for an evaluation with @a2a-js/sdk 1.x: node client_1_0.mjs ADDRESS TRANSPORT REQUEST.
// Prints the last state and the artifact as JSON.
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";

const [address, transport, request] = process.argv.slice(2);
const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  preferredTransports: [transport],
});
const client = await new ClientFactory(options).createFromUrl(address);
const message = {
  messageId: "js-1",
  contextId: "",
  taskId: "",
  role: Role.ROLE_USER,
  parts: [
    { content: { $case: "text", value: request }, metadata: undefined, filename: "", mediaType: "" },
  ],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
};
const shown = {};
const sent = { tenant: "", message, configuration: undefined, metadata: undefined };
for await (const { payload } of client.sendMessageStream(sent)) {
  if (payload.$case === "artifactUpdate") {
    const [prose, row] = payload.value.artifact.parts;
    shown.prose = prose.content.value;
    shown.row = row.content.value;
  } else if (payload.$case === "statusUpdate") {
    shown.state = TaskState[payload.value.status.state];
  }
}
console.log(JSON.stringify(shown));
