// Bundles programs of the benchmark into dist/bench, since Node 20 cannot run TypeScript itself.
import { join } from 'node:path'
import { root } from '../scripts/root.mjs'
import { setup } from '../scripts/setup.mjs'

const outdir = join(root, 'dist/bench')

/** @param {string[]} names of modules in `src`; the first is started */
export async function run(...names) {
  await setup()
  const { build } = await import('esbuild')
  const { threadBundles } = await import('../scripts/thread-bundle.mjs')
  await build({
    entryPoints: names.map((name) => join(root, `bench/src/${name}.ts`)),
    outdir,
    outbase: join(root, 'bench/src'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'linked',
    plugins: [threadBundles()],
    // Native addons cannot be bundled; the SDK and the peers are left as their users have them.
    external: ['lmdb', '@aws-sdk/*', '@aws-crypto/*', '@slack/*', 'fastify', 'bullmq', 'ioredis'],
    logLevel: 'warning',
    // Some dependencies are CommonJS and call require for Node's own modules.
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);",
    },
  })
  await import(join(outdir, `${names[0]}.js`))
}
