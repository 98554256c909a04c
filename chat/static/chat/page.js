// The chat page's beginning: reads what the server put on the page, and starts.

import { Chat } from "./chat.js";
import { useStrings } from "./strings.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

useStrings(read("chat-strings"));
new Chat({ config: read("chat-config"), name: document.querySelector("[data-part=name]").textContent.trim() }).start();
