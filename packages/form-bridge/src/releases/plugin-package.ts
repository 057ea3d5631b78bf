/** A plugin's package: what it says of itself, if it is one that can be published. */
import { parseUrl } from '@strongroom/kit/parse-url'
import { Slug, Version } from '../items/formats.ts'
import type { ReleaseDetails } from '../items/release.ts'
import { type PluginHeader, pluginHeader } from './plugin-header.ts'
import { escapeHtml, readReadme } from './readme.ts'
import { unpackPlugin } from './unpack.ts'
import { BadZip } from './zip-directory.ts'

export interface PluginPackage {
  slug: string
  version: string
  details: ReleaseDetails
}

/** With all that an item holds, the details must leave room for the rest. */
const LONGEST_DETAILS = 200_000

/** Throws `BadZip` with what to correct. */
export function readPackage(zip: Uint8Array, slug: string): PluginPackage {
  if (!Slug.safeParse(slug).success) throw new BadZip('Has no folder that is the slug of a plugin')
  const files = unpackPlugin(zip, slug)
  const main = files.get(`${slug}/${slug}.php`)
  if (!main) throw new BadZip(`Has no ${slug}/${slug}.php`)
  const header = pluginHeader(main)
  if (header.name === '') throw new BadZip(`Has no "Plugin Name" in ${slug}.php`)
  if (!Version.safeParse(header.version).success)
    throw new BadZip(`Has no "Version" in ${slug}.php`)
  const readme = readReadme(Buffer.from(files.get(`${slug}/readme.txt`) ?? '').toString())
  const { stable_tag } = readme
  if (stable_tag !== '' && stable_tag !== 'trunk' && stable_tag !== header.version) {
    throw new BadZip('Has another "Stable tag" in readme.txt than its version')
  }
  const { description } = header
  const details: ReleaseDetails = {
    name: header.name,
    author: authorOf(header),
    homepage: linkOf(header.plugin_uri),
    requires: header.requires || readme.requires,
    requires_php: header.requires_php || readme.requires_php,
    tested: readme.tested,
    upgrade_notice: readme.noticeOf(header.version),
    sections: { description: `<p>${escapeHtml(description)}</p>`, ...readme.sections },
  }
  if (JSON.stringify(details).length > LONGEST_DETAILS)
    throw new BadZip('Has a readme.txt that is too long')
  return { slug, version: header.version, details }
}

/** The folder that a package has, which is the slug of its plugin. */
export function slugIn(zip: Uint8Array): string {
  const [, slug = ''] = /^([^/]+)\//.exec(firstName(zip)) ?? []
  return slug
}

function firstName(zip: Uint8Array): string {
  const view = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength)
  if (view.length < 30 || view.readUInt32LE(0) !== 0x04034b50)
    throw new BadZip('Is not a zip archive')
  return view.subarray(30, 30 + view.readUInt16LE(26)).toString()
}

function authorOf({ author, author_uri }: PluginHeader): string {
  const link = linkOf(author_uri)
  const name = escapeHtml(author)
  return link === '' ? name : `<a href="${escapeHtml(link)}">${name}</a>`
}

function linkOf(text: string): string {
  return /^https?:\/\//i.test(text) ? (parseUrl(text)?.href ?? '') : ''
}
