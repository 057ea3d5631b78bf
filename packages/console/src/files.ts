/** The files of the console, inside the bundle of the server: nothing is read from disk at run time. */
// oxlint-disable import/default -- the site is imported as text
import { gzipSync } from 'node:zlib'
import site from './app/main.tsx?site'

export interface ConsoleFile {
  /** Contains a hash of the content, so that it can be cached forever. */
  name: string
  contentType: string
  body: string
  /** Compressed when it is first requested, because most chunks are never. */
  gzipped(): Uint8Array<ArrayBuffer>
}

const CONTENT_TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

export function consoleFiles(): ReadonlyMap<string, ConsoleFile> {
  const files = JSON.parse(site) as { name: string; text: string }[]
  return new Map(
    files.map(({ name, text }) => {
      const contentType = CONTENT_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain'
      let compressed: Uint8Array<ArrayBuffer> | undefined
      const gzipped = () => (compressed ??= new Uint8Array(gzipSync(text)))
      return [name, { name, contentType, body: text, gzipped }]
    }),
  )
}
