import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'

export default defineConfig({
  plugins: [textModules()],
  test: {
    include: ['packages/*/test/**/*.test.{ts,tsx}'],
    globalSetup: ['packages/kit/src/testing/dynamodb-local.ts'],
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    // Only against tests that hang: on a busy machine DynamoDB Local takes its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})

/**
 * What `import … with { type: 'text' }` does in the bundle. Goes by names, because the attribute is
 * gone before a plugin sees the import; a name without an extension, because Vite would take it for
 * a style sheet or a script.
 */
function textModules(): Plugin {
  const prefix = '\0text:'
  return {
    name: 'text-modules',
    enforce: 'pre',
    resolveId(source, importer) {
      if (importer === undefined || !/\.(?:css|svg|client\.js)$/.test(source)) return null
      const file = join(dirname(importer), source)
      return `${prefix}${Buffer.from(file).toString('base64url')}`
    },
    async load(id) {
      if (!id.startsWith(prefix)) return null
      const file = Buffer.from(id.slice(prefix.length), 'base64url').toString()
      return `export default ${JSON.stringify(await readFile(file, 'utf8'))}`
    },
  }
}
