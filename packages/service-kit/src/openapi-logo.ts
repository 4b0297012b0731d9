const arches = `<path d="M2 22h44M4 22a9 9 0 0 1 18 0m4 0a9 9 0 0 1 18 0" fill="none" stroke="#7dd3c0" stroke-width="3" stroke-linecap="round"/>`;

/** The icon, a causeway with two arches. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 4 48 28">${arches}</svg>`;

/** The icon with the name, for the top of the documentation page. */
export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 190 36" height="36" role="img" aria-label="Causeway"><g transform="translate(0 3)">${arches}</g><text x="58" y="26" fill="#fff" font-family="system-ui,sans-serif" font-size="24" font-weight="600">Causeway</text></svg>`;
