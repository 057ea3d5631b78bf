/**
 * Which sites are for trying things out, and so use up no agency's limit. A plugin's word alone does
 * not make one so, or every site would be a staging site; its host name does, and so does an operator.
 */
import type { SiteEnvironment } from '../items/site.ts'

const names =
  /^(?:staging|stage|stg|dev|develop|development|test|testing|qa|uat|demo|sandbox|preview|local)\d*\.|^(?:staging|stg|dev)\d*-|[.-](?:staging|stage|stg|dev)\d*\./

/** Where hosts put the copies that their customers work on. */
const hosts = [
  'cloudwaysapps.com',
  'dev.cc',
  'flywheelsites.com',
  'flywheelstaging.com',
  'kinsta.cloud',
  'kinsta.com',
  'local',
  'localhost',
  'lndo.site',
  'ddev.site',
  'myftpupload.com',
  'mystagingwebsite.com',
  'ngrok.io',
  'ngrok-free.app',
  'pantheonsite.io',
  'platformsh.site',
  'runcloud.link',
  'sg-host.com',
  'wpcomstaging.com',
  'wpengine.com',
  'wpenginepowered.com',
  'wpsandbox.pro',
  'instawp.xyz',
  'tastewp.com',
  'test',
]

export function isTryingOut(host: string): boolean {
  return names.test(host) || hosts.some((end) => host === end || host.endsWith(`.${end}`))
}

/** What a site counts as: what its host name says, or else what it says itself. */
export function environmentOf(host: string, claimed: SiteEnvironment | undefined): SiteEnvironment {
  if (claimed !== undefined && claimed !== 'production') return claimed
  return isTryingOut(host) ? 'staging' : 'production'
}
