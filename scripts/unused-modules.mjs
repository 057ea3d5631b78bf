// Leaves out of the bundle what dependencies import and this program never uses, because loading it
// takes time at every start: HTTP/2, which no listener speaks, and messages in languages other than English.

/** Replacements by the module that is imported and the package that imports it. */
const REPLACEMENTS = [
  {
    filter: /^node:http2$/,
    from: '/@hono/node-server/',
    // Only compared with `instanceof`.
    contents: 'export class Http2ServerRequest {}\nexport const constants = {}',
  },
  {
    filter: /^\.\.\/locales\/index\.js$/,
    from: '/zod/',
    contents: 'export {}',
  },
]

/** @returns {import('esbuild').Plugin} */
export function unusedModules() {
  return {
    name: 'unused-modules',
    setup(hooks) {
      for (const [at, { filter, from, contents }] of REPLACEMENTS.entries()) {
        const namespace = `unused-module-${at}`
        hooks.onResolve({ filter }, ({ importer, path }) =>
          importer.replaceAll('\\', '/').includes(from) ? { path, namespace } : undefined,
        )
        hooks.onLoad({ filter: /.*/, namespace }, () => ({ contents, loader: 'js' }))
      }
    },
  }
}
