/** Releases, and which site has which. */
import type { PatternRow } from './row.ts'

export const patternsOfReleases: readonly PatternRow[] = [
  [
    'Remember the newest version',
    'store/version-cache.ts: put',
    'PK = PLUGIN_VERSION#latest, SK = INFO',
  ],
  [
    'Get the newest version',
    'store/version-cache.ts: latest',
    'PK = PLUGIN_VERSION#latest, SK = INFO',
  ],
  [
    'Find a cached version',
    'store/version-cache.ts: find',
    'GSI1PK = VERSION#{version}, GSI1SK = RELEASE',
    'GSI1',
  ],
  [
    'Forget the newest version',
    'store/version-cache.ts: clear',
    'PK = PLUGIN_VERSION#latest, SK = INFO',
  ],
  [
    'Publish a release',
    'store/releases.ts: publish',
    'PK = PLUGIN#{slug}, SK = VERSION#{version}; PK = PACKAGE#{slug}#{version}, SK = {nnnn}',
  ],
  ['Get a release', 'store/releases.ts: get', 'PK = PLUGIN#{slug}, SK = VERSION#{version}'],
  ['List releases', 'store/releases.ts: list', 'PK = PLUGIN#{slug}, SK begins_with VERSION#'],
  [
    'Withdraw a release',
    'store/releases.ts: withdraw',
    'PK = PLUGIN#{slug}, SK = VERSION#{version}',
  ],
  [
    'Download a package',
    'store/releases.ts: package',
    'PK = PACKAGE#{slug}#{version}, SK = {nnnn}',
  ],
  [
    'Record an update check',
    'store/update-checks.ts: record',
    'one transaction: UPDATE_CHECK#{site_id} TIME# and CURRENT, ADOPTION#{date}',
  ],
  [
    'Get update history for site',
    'store/update-checks.ts: history',
    'PK = UPDATE_CHECK#{site_id}, SK BETWEEN TIME#{from} AND TIME#{to}',
  ],
  [
    'Find sites checking specific version',
    'store/update-checks.ts: sitesOn',
    'GSI1PK = UPDATES#{version}',
    'GSI1',
  ],
  [
    'Track update adoption of a site',
    'store/update-checks.ts: current',
    'PK = UPDATE_CHECK#{site_id}, SK = CURRENT',
  ],
  [
    'Track update adoption of the fleet',
    'store/update-checks.ts: adoptionOn',
    'PK = ADOPTION#{date}',
  ],
]
