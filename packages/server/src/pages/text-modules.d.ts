// Files that are imported as text: `import styles from './styles.css' with { type: 'text' }`.
// esbuild knows the attribute, vitest.config.ts teaches it to the tests.
declare module '*.css' {
  const text: string
  export default text
}

declare module '*.svg' {
  const text: string
  export default text
}

declare module '*.md' {
  const text: string
  export default text
}
