// Tokens: in memory, and in sessionStorage when the visitor asks for it. Nowhere else.

const held = new Map();
const key = (view) => `restante.${view}`;

// The grant behind the # of an address; other fragments are none.
export function linked_grant() {
  return /^#([A-Za-z0-9_-]{43})$/.exec(location.hash)?.[1];
}

export function token_for(view) {
  if (!held.has(view)) {
    const kept = sessionStorage.getItem(key(view));
    if (kept) held.set(view, kept);
  }
  return held.get(view);
}

export function hold(view, token, keep) {
  held.set(view, token);
  if (keep) sessionStorage.setItem(key(view), token);
}

export function forget(view) {
  held.delete(view);
  sessionStorage.removeItem(key(view));
}
