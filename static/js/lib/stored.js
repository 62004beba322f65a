// Local storage that never throws: it may be refused (private windows) or full.

export function read(key, otherwise = null) {
  try {
    return localStorage.getItem(key) ?? otherwise;
  } catch {
    return otherwise;
  }
}

// Whether it is kept.
export function write(key, value) {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

export function remove(key) {
  try {
    localStorage.removeItem(key);
  } catch { /* then nothing was kept */ }
}

// Every value below a prefix, as {name: value}; what is not JSON is not ours.
export function readAll(prefix) {
  const found = {};
  try {
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(prefix)) continue;
      try {
        found[key.slice(prefix.length)] = JSON.parse(localStorage.getItem(key));
      } catch { /* half written */ }
    }
  } catch { /* refused */ }
  return found;
}
