/** Tailwind 4 is a PostCSS plugin; the tokens live in app/globals.css. */
const config = { plugins: { "@tailwindcss/postcss": {} } };

export default config;
