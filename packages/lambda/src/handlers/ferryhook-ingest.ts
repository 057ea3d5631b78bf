import { ferryhookService } from '@strongroom/ferryhook/service'
import { serviceHandler } from '../service-handler.ts'

export const handler = serviceHandler('ferryhook-ingest', ferryhookService)
