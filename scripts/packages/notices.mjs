// The licences of the packages whose code is in a bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from '../root.mjs'

/** Modules that are bundled on their own and included as text, see browser-bundle.mjs and thread-bundle.mjs. */
const NESTED = /^(browser|thread)-bundle:(.+?)(?:\?\w+)?$/

/**
 * The directories of the packages whose code is in a bundle, relative to the clone.
 * @param {string[]} inputs what esbuild bundled
 */
export async function bundledPackages(inputs) {
  const all = await withNested(inputs)
  const directories = new Set(all.map(packageDirectory).filter((found) => found !== undefined))
  return [...directories].toSorted()
}

/**
 * The text of THIRD-PARTY-NOTICES.
 * @param {string[]} directories
 */
export function noticesOf(directories) {
  const notices = directories.map((directory) => noticeOf(join(root, directory)))
  const unique = new Map(notices.map((notice) => [`${notice.name} ${notice.version}`, notice]))
  const texts = [...unique.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      ({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text.trim()}\n`,
    )
  if (texts.length === 0) return 'This package contains no code of other packages.\n'
  const rule = `\n${'-'.repeat(80)}\n\n`
  return `This package contains code of the following packages.\n${rule}${texts.join(rule)}`
}

/** @param {string[]} inputs @returns {Promise<string[]>} */
async function withNested(inputs) {
  const found = inputs.flatMap((input) => {
    const [, kind, file] = NESTED.exec(input) ?? []
    return file === undefined ? [] : [{ kind, file }]
  })
  const nested = await Promise.all(
    found.map(async ({ kind, file }) => {
      const { metafile } = await build({
        entryPoints: [file],
        absWorkingDir: root,
        outdir: 'nested',
        bundle: true,
        write: false,
        metafile: true,
        format: 'esm',
        platform: kind === 'thread' ? 'node' : 'browser',
        logLevel: 'error',
      })
      return Object.keys(metafile.inputs)
    }),
  )
  return [...inputs, ...nested.flat()]
}

/** @param {string} input @returns {string | undefined} */
function packageDirectory(input) {
  const [, directory] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
  return directory
}

/** @param {string} directory */
function noticeOf(directory) {
  const { name, version, license } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  )
  const file = readdirSync(directory).find((each) =>
    /^(?:licen[cs]e|copying)(?:\.\w+)?$/i.test(each),
  )
  const notice = join(directory, 'NOTICE')
  if (license === undefined) throw new Error(`${name} has no licence: do not bundle it`)
  const texts = [
    file === undefined ? `Licence: ${license}` : readFileSync(join(directory, file), 'utf8'),
    ...(existsSync(notice) ? [readFileSync(notice, 'utf8')] : []),
  ]
  return { name, version, license, text: texts.join('\n') }
}
