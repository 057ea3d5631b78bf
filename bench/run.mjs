// `npm run bench`: bundles the benchmark, since Node 20 cannot run TypeScript itself, and starts it.
import { join } from 'node:path'
import { root } from '../scripts/root.mjs'
import { setup } from '../scripts/setup.mjs'

await setup()
const { build } = await import('esbuild')
const outdir = join(root, 'dist/bench')
await build({
  entryPoints: [
    'main',
    'worker',
    'server',
    'http/bare-server',
    'http/bare-receiver',
    'http/null-server',
    'overload/generator',
    'overload/slow-store',
  ].map((name) => join(root, `bench/src/${name}.ts`)),
  outdir,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'linked',
  // Native addons cannot be bundled; the SDK is left as its users have it.
  external: ['lmdb', '@aws-sdk/*', '@aws-crypto/*', '@slack/*'],
  logLevel: 'warning',
})
// The SDK's notice about newer versions of Node is no figure.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
await import(join(outdir, 'main.js'))
