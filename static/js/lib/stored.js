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

// The same for one tab, as JSON: it outlives the page, and ends with the tab.
export function readTab(key, otherwise) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function writeTab(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch { /* then it ends with the page */ }
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
