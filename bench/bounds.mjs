// `npm run bounds`: bundles the check, since Node 20 cannot run TypeScript itself, and starts it.
import { join } from 'node:path'
import { root } from '../scripts/root.mjs'
import { setup } from '../scripts/setup.mjs'

await setup()
const { build } = await import('esbuild')
const outdir = join(root, 'dist/bounds')
await build({
  entryPoints: ['main', 'attacker'].map((name) => join(root, `bench/src/bounds/${name}.ts`)),
  outdir,
  bundle: true,
  external: ['playwright-core'],
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'linked',
  logLevel: 'warning',
})
await import(join(outdir, 'main.js'))
