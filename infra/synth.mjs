// The CDK app: `cdk` runs it and reads the template that it writes. Bundles the TypeScript of this
// folder with the declarations of the services, because Node 20 cannot run TypeScript.
import { mkdirSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { setup } from '../scripts/setup.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))

await setup()
const { build } = await import('esbuild')
const { buildLambda } = await import('../scripts/build-lambda.mjs')
const out = join(here, '../dist/infra')
mkdirSync(out, { recursive: true })
await buildLambda({ directory: join(here, '../dist/lambda') })
const app = join(out, 'app.mjs')
await build({
  entryPoints: [join(here, 'src/app.ts')],
  outfile: app,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  plugins: [cdkFromHere()],
  // Some dependencies are CommonJS and call require for Node's own modules.
  banner: {
    js: "import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);",
  },
  logLevel: 'warning',
})
await import(pathToFileURL(app).href)

/**
 * The CDK is too large to bundle, and the bundle is not below this folder's node_modules.
 * @returns {import('esbuild').Plugin}
 */
function cdkFromHere() {
  return {
    name: 'cdk-from-here',
    setup({ onResolve }) {
      onResolve({ filter: /^(?:aws-cdk-lib|constructs)(?:\/|$)/ }, ({ path }) => ({
        path: import.meta.resolve(path),
        external: true,
      }))
    },
  }
}
