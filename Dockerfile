# docker build -t weir .          docker run -p 3000:3000 -v weir-data:/data weir
# For another architecture: docker buildx build --platform linux/arm64 -t weir .
FROM node:24-bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# Bun and the packages change rarely: a layer of their own.
COPY package.json bun.lock bunfig.toml ./
COPY scripts/bootstrap.mjs scripts/install.mjs scripts/
RUN node scripts/install.mjs
COPY . .
RUN node scripts/install.mjs build && mkdir -p /out/data && mv dist/weir /out/weir

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /out/weir /usr/local/bin/weir
COPY LICENSE NOTICE /usr/share/doc/weir/
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV WEIR_DATA_DIR=/data PORT=3000 WEIR_LOG_FORMAT=json
WORKDIR /data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s --retries=3 CMD ["/usr/local/bin/weir", "--health"]
ENTRYPOINT ["/usr/local/bin/weir"]
