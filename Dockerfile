# A small image with the binary. The second stage has a shell, because GitLab runs its jobs in one.

FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev make
WORKDIR /src
COPY Cargo.toml Cargo.lock build.rs ./
COPY benches benches
COPY rules rules
COPY src src
COPY tests/it/main.rs tests/it/main.rs
COPY README.md ./
RUN cargo build --release --locked --bin rowrace

FROM alpine:3.22
COPY --from=build /src/target/release/rowrace /usr/local/bin/rowrace
# The tree that is mounted belongs to somebody else. Its objects are read for `--since`, nothing of it is run.
RUN adduser -D -u 10001 rowrace && printf '[safe]\n\tdirectory = *\n' > /etc/gitconfig
USER 10001
WORKDIR /src
ENTRYPOINT ["rowrace"]
CMD ["check"]
