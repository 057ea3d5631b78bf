/**
 * The WordPress installations that tests run on: what `fetch.sh` has put into the directory that
 * WORDPRESS_CACHE names, or else into strongroom/wordpress among the caches of this person. With
 * REQUIRE_WORDPRESS=1 (set in CI) it is a failure if there is none.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Installation {
  version: string
  /** Its files, which all sites share. */
  files: string
}

export const hasPhp = spawnSync('php', ['-v'], { stdio: 'ignore' }).status === 0

const NAMES = ['oldest', 'newest']
/** Each site takes seconds to install, and there is one for each file of tests. */
const hasTime = Boolean(process.env['SLOW'])

export function installations(): Installation[] {
  const found = NAMES.filter((name) => hasTime && hasPhp && existsSync(join(cache(), name)))
  if (found.length === 0 && process.env['REQUIRE_WORDPRESS'] === '1')
    throw new Error('WordPress or PHP is missing: install PHP and run fetch.sh')
  return found.map((name) => {
    const files = join(cache(), name)
    const text = readFileSync(join(files, 'wp-includes/version.php'), 'utf8')
    return { files, version: /\$wp_version = '([^']+)'/.exec(text)?.[1] ?? name }
  })
}

/** Why tests do not run on all of them; undefined if they do. */
export function missing(found: readonly Installation[]): string | undefined {
  if (!hasTime) return 'it takes a while, SLOW=1 does it'
  if (!hasPhp) return 'PHP is not installed'
  if (found.length === 0)
    return 'there is no WordPress, packages/form-bridge/test/wordpress/fetch.sh gets it'
  return found.length < NAMES.length ? 'there is only one WordPress to test on' : undefined
}

function cache(): string {
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  return process.env['WORDPRESS_CACHE'] ?? join(caches, 'strongroom', 'wordpress')
}
