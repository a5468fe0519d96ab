/**
 * Rows of a page of the console's own lists at most: of an address (`?size=500`), of a part of an export. In a file of
 * its own, because every list needs it and none needs the schemas of shared/paging.
 */
export const MAX_LIST_SIZE = 500;
