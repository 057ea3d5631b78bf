/**
 * The meta tags of a page, tag by tag as a browser reads them: titles, descriptions and scripts hold
 * what visitors wrote, and a tag inside of one is none. The time grows with the length of the page and
 * no faster, because whoever wrote it may wish to keep the server busy.
 */
const NAME = /<(\/?[a-z][a-z0-9-]*)/iy
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g
const LONGEST_TAG = 2_000

/** What is in them is text until they end. */
const textual = new Set(['script', 'style', 'title', 'textarea'])

/** Contents of those with a name. Only of the head: the body is written by visitors, too. */
export function metaContents(html: string, name: string): string[] {
  const contents: string[] = []
  for (const tag of tagsOf(html)) {
    if (tag.name === 'body' || tag.name === '/head') break
    if (tag.name !== 'meta' || tag.text.length > LONGEST_TAG) continue
    const attributes = attributesIn(tag.text)
    if (attributes.get('name') === name) contents.push(attributes.get('content') ?? '')
  }
  return contents
}

/** Ends at the first thing that nobody closed, which hides the rest. */
function* tagsOf(html: string): Generator<{ name: string; text: string }> {
  // Not toLowerCase, which makes some letters longer.
  const lowerCase = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const after = (text: string, from: number) => {
    const found = lowerCase.indexOf(text, from)
    return found < 0 ? html.length : found + text.length
  }
  let at = html.indexOf('<')
  while (at >= 0) {
    NAME.lastIndex = at
    const [start = '<', name = ''] = NAME.exec(lowerCase) ?? []
    if (lowerCase.startsWith('<!--', at)) at = after('-->', at)
    else if (name === '') at += start.length
    else {
      const end = endOfTag(html, at + start.length)
      if (end < 0) return
      yield { name, text: html.slice(at + start.length, end) }
      at = textual.has(name) ? after(`</${name}`, end) : end
    }
    at = html.indexOf('<', at)
  }
}

/** Where a tag ends, passing over values in quotes; negative if it does not. */
function endOfTag(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const char = html.charAt(at)
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  return -1
}

/** The first of each name counts. */
function attributesIn(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const known = name.toLowerCase()
    if (!attributes.has(known)) attributes.set(known, double ?? single ?? bare ?? '')
  }
  return attributes
}
