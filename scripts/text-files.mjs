// The texts that another plugin generates, such as scripts for browsers, become files that are read when
// they are imported: the compiled program is read as a whole at each start, and the modules share them.
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * @param {import('esbuild').Plugin} plugin
 * @param {string} directory that of the bundle
 * @param {string} chunks the path of the chunks from the file that imports the text
 * @returns {import('esbuild').Plugin}
 */
export function textFiles({ name, setup }, directory, chunks) {
  return {
    name: `${name}-files`,
    setup: (hooks) =>
      setup({
        ...hooks,
        onLoad: (options, load) =>
          hooks.onLoad(options, async (file) => {
            const loaded = await load(file)
            if (loaded?.loader !== 'text') return loaded
            const path = chunks + (await write(directory, String(loaded.contents)))
            const contents = `import { readFileSync } from 'node:fs'
export default readFileSync(new URL(${JSON.stringify(path)}, import.meta.url), 'utf8')`
            return { contents, loader: 'js' }
          }),
      }),
  }
}

/** @param {string} directory @param {string} text */
async function write(directory, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const name = `text-${hash}.txt`
  await mkdir(join(directory, 'chunks'), { recursive: true })
  await writeFile(join(directory, 'chunks', name), text)
  return name
}
