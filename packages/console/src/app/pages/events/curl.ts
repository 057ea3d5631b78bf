/** A request as a command of the shell. */
import type { EventDetail } from './event.ts'

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
/** Set by curl itself, or meaningless for another request. */
const OMITTED = new Set(['host', 'content-length', 'connection', 'accept-encoding'])
/** Control characters except for tabs and line feeds. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

/** Sends the request as it was received; credentials are not stored, so they are missing. */
export function toCurl(
  event: Pick<EventDetail, 'method' | 'headers' | 'query' | 'body' | 'encoding'>,
  url: string,
): string {
  const target = event.query === null ? url : `${url}?${event.query}`
  const headers = Object.entries(event.headers)
    .filter(([name, value]) => !OMITTED.has(name.toLowerCase()) && value !== '(not kept)')
    .flatMap(([name, value]) => [value].flat().map((each) => `-H ${quote(`${name}: ${each}`)}`))
  const isBinary = event.encoding === 'base64'
  // A terminal acts on pasted control characters also inside quotes: Ctrl+C ends the command, and the
  // sender of the event would choose the next one. Curl reads a file if the data begins with an at sign.
  const asBytes = isBinary || UNSAFE.test(event.body) || event.body.startsWith('@')
  const encoded = isBinary ? event.body : toBase64(event.body)
  const body = asBytes ? '--data-binary @-' : `--data-binary ${quote(event.body)}`
  const command = [`curl -X ${event.method} ${quote(target)}`, ...headers, body].join(' \\\n  ')
  return asBytes ? `echo ${quote(encoded)} | base64 -d | ${command}` : command
}

function toBase64(text: string): string {
  return bytesToBase64(new TextEncoder().encode(text))
}

function bytesToBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
