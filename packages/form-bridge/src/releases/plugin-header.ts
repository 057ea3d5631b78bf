/** The header of a plugin's main file, read as WordPress reads it: the first 8 KB, one field a line. */
const HEADER_BYTES = 8_192

export interface PluginHeader {
  name: string
  version: string
  author: string
  author_uri: string
  plugin_uri: string
  description: string
  requires: string
  requires_php: string
}

export function pluginHeader(file: Uint8Array): PluginHeader {
  const text = Buffer.from(file.subarray(0, HEADER_BYTES)).toString().replaceAll('\r', '\n')
  const field = (name: string) => fieldIn(text, name)
  return {
    name: field('Plugin Name'),
    version: field('Version'),
    author: field('Author'),
    author_uri: field('Author URI'),
    plugin_uri: field('Plugin URI'),
    description: field('Description'),
    requires: field('Requires at least'),
    requires_php: field('Requires PHP'),
  }
}

/** A field of a header or of a readme; empty if it is not there. */
export function fieldIn(text: string, name: string): string {
  const [, value = ''] =
    new RegExp(`^(?:[ \\t]*<\\?php)?[ \\t/*#@]*${name}:(.*)$`, 'mi').exec(text) ?? []
  return value.replace(/\s*(?:\*\/|\?>).*/, '').trim()
}
