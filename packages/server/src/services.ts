/** The services of this product, in the order in which people see them. */
import type { Service } from '@strongroom/kit/service'
import { sealedService } from '@strongroom/sealed/service-definition'

export const services: readonly Service[] = [sealedService]
