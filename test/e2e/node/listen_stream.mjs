// Follows the event stream of a workspace with EventSource, which reconnects by itself, and prints an event a line.
import { EventSource } from "eventsource";

const { URL: url, TOKEN } = process.env;
const source = new EventSource(url, {
  fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, Authorization: `Bearer ${TOKEN}` } }),
});
source.onopen = () => console.log(JSON.stringify({ open: true }));
source.onmessage = (event) => console.log(JSON.stringify({ id: event.lastEventId, ...JSON.parse(event.data) }));
