/**
 * The places that a site has in agencies, read as they were last written, and how it leaves them: a
 * site ends, or moves, in one transaction with all of them.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { AgencyItem, agencyKey } from '../items/agency.ts'
import {
  type AgencySite,
  AgencySiteItem,
  agencySiteKey,
  SitePlaceItem,
  sitePlaceKey,
} from '../items/agency-site.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'

export function createPlaces({ db }: Pick<StoreDeps, 'db'>) {
  const agencies = entity(db, formBridgeTable, AgencyItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const places = entity(db, formBridgeTable, SitePlaceItem)

  async function indexed(site_id: string): Promise<AgencySite[]> {
    const { attr } = agencySites
    const { items } = await agencySites.query({
      index: 'GSI1',
      key: expr`${attr('GSI1PK')} = ${`SITE#${site_id}`} AND begins_with(${attr('GSI1SK')}, ${'AGENCY#'})`,
    })
    return items
  }

  return {
    async of(site_id: string): Promise<AgencySite[]> {
      const { attr } = places
      const { items } = await places.query({
        key: expr`${attr('PK')} = ${`SITEID#${site_id}`} AND begins_with(${attr('SK')}, ${'AGENCY#'})`,
      })
      // Memberships that are older than these items are known to the index alone.
      const named = items.length > 0 ? items : await indexed(site_id)
      const found = await Promise.all(named.map((each) => agencySites.get(agencySiteKey(each))))
      return found.filter((member) => member !== undefined)
    },

    /** Gives back one place as it was read; refused if it has changed since. */
    leaving(member: AgencySite): Record<string, TransactWriteItem> {
      const { agency_id, added_at, outside_limit } = member
      const [flag, current] = [agencySites.attr('outside_limit'), agencies.attr('current_sites')]
      const counted = outside_limit
        ? expr`${flag} = ${outside_limit}`
        : expr`attribute_not_exists(${flag})`
      return {
        // Whether it had used up the limit is known of no other.
        [`member ${agency_id}`]: agencySites.part.delete(
          agencySiteKey(member),
          expr`${agencySites.attr('added_at')} = ${added_at} AND ${counted}`,
        ),
        [`place ${agency_id}`]: places.part.delete(sitePlaceKey(member)),
        ...(!outside_limit && {
          [`agency ${agency_id}`]: agencies.part.update(
            agencyKey(agency_id),
            expr`SET ${current} = ${current} - ${1}`,
            expr`${current} > ${0}`,
          ),
        }),
      }
    },
  }
}
